"""Near-duplicate text in PostgreSQL.  One module a library: ``neardup.psycopg`` and so on."""

from neardup.errors import NearDuplicateError, near_duplicate_error, raises_near_duplicates
from neardup.signature import Signature

__all__ = ["NearDuplicateError", "Signature", "near_duplicate_error", "raises_near_duplicates"]
__version__ = "1.0.0"
