"""The unary calls as JSON over HTTP/1.1, in the shape of Connect's protocol, through the gate of the gRPC calls."""
