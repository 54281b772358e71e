/*
 * signature_io.h
 *		The text and binary form of signatures, and their order.
 */
#ifndef NEARDUP_SIGNATURE_IO_H
#define NEARDUP_SIGNATURE_IO_H

#include "nodes/nodes.h"

#include "signature/signature.h"

/* signature_io.c */
extern Signature *signature_parse(const char *text, Node *escontext);
extern char *signature_to_text(const Signature *sig);
extern bytea *signature_to_bytes(const Signature *sig);
extern Signature *signature_from_bytes(const char *bytes, size_t len);
extern Datum signature_out(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_SIGNATURE_IO_H */
