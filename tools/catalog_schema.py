"""Write docs/catalog.schema.json from the types that the server reads shape files with.

python tools/catalog_schema.py
"""

from __future__ import annotations

import json
from pathlib import Path

from leakscale_server.core.format.json_schema import format_schema

TARGET = Path(__file__).parents[1] / "docs" / "catalog.schema.json"


def main() -> None:
    """Write the file."""
    TARGET.write_text(json.dumps(format_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
