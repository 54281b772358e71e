/*
 * signature_type.h
 *		The text and binary form of signatures, and their order.
 */
#ifndef NEARDUP_SIGNATURE_TYPE_H
#define NEARDUP_SIGNATURE_TYPE_H

#include "nodes/nodes.h"

#include "signature/signature.h"

/* Parse the text form; NULL for a soft error. */
extern Signature *signature_parse(const char *text, Node *escontext);

/* Return the text form, palloc'd. */
extern char *signature_to_text(const Signature *sig);

/* Return the portable bytes, palloc'd. */
extern bytea *signature_to_bytes(const Signature *sig);

/*
 * Return the signature of portable bytes, palloc'd.  Raises
 * INVALID_BINARY_REPRESENTATION unless all are valid.
 */
extern Signature *signature_from_bytes(const char *bytes, size_t len);

/* The output function of signature. */
extern Datum signature_out(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_SIGNATURE_TYPE_H */
