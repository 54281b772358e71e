/*
 * component_use.c
 *		Which parts of ICU and libstemmer a session has used.
 */
#include "postgres.h"

#include "text/component_use.h"

void		(*component_first_used) (int id) = NULL;
bool		component_used[NUM_COMPONENTS];
