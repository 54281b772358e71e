/* stands in for analysis.c until that is merged */
#include "postgres.h"
#include "text/analysis.h"
Analysis *analysis_parse(const char *text, size_t len, Node *escontext) { return palloc0(sizeof(Analysis)); }
void analysis_set_k(Analysis *analysis, int k) {}
Analysis *analysis_of_config(Oid config) { return palloc0(sizeof(Analysis)); }
void analysis_canonical(const Making *making, StringInfo out) {}
bool analysis_hash(const Making *making, uint32 *hash) { return false; }
