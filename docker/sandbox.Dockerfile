# The sandbox image for those who build online. Not needed otherwise: the server makes its own image from the
# interpreter that it runs on (see server/leakscale_server/sandbox_pool/closure.py), without a registry.
#
#   docker build -t leakscale-sandbox:online -f docker/sandbox.Dockerfile docker
#
# The worker's source is sent when a container starts, so the image is only an interpreter. Name the base by digest
# before you certify anything with it: a tag can move, and a certificate names the image.
ARG BASE=python:3.12-slim
FROM ${BASE} AS interpreter
RUN rm -rf /usr/local/lib/python3*/site-packages /usr/local/lib/python3*/test /usr/local/lib/python3*/idlelib \
           /usr/local/lib/python3*/ensurepip /usr/local/lib/python3*/tkinter /usr/local/include /usr/local/share \
    && mkdir /rootfs /rootfs/proc /rootfs/sys /rootfs/dev /rootfs/etc \
    && cp -a --parents /usr/local/bin/python3* /usr/local/lib /rootfs/ \
    && for binary in /usr/local/bin/python3 /usr/local/lib/python3*/lib-dynload/*.so; do \
           ldd "$binary" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p'; \
       done | sort -u | grep -v '^/usr/local/' | while read -r library; do cp -L --parents "$library" /rootfs/; done \
    && printf 'nobody:x:65534:65534:nobody:/:/nonexistent\n' > /rootfs/etc/passwd

FROM scratch
COPY --from=interpreter /rootfs /
ENV LANG=C.UTF-8 LD_LIBRARY_PATH=/usr/local/lib PYTHONHOME=/usr/local
USER 65534:65534
WORKDIR /
ENTRYPOINT ["/usr/local/bin/python3"]
