/*
 * given_query.h
 *		Queries that a caller gives as text: looked at before they are run.
 */
#ifndef NEARDUP_GIVEN_QUERY_H
#define NEARDUP_GIVEN_QUERY_H

/*
 * A query as it can stand in brackets: without semicolons at its end, palloc'd.
 * Raises SYNTAX_ERROR unless the text is one SELECT (or VALUES, or TABLE), and
 * UNDEFINED_COLUMN unless its rows have the columns, a list that ends in NULL;
 * both name the argument.  Gives the types of these columns.  For use within SPI.
 */
extern char *given_query(const char *argument, const char *text,
						 const char *const *columns, Oid *types);

/*
 * Raises SYNTAX_ERROR, which names the argument, for a text that is not of one
 * piece: one that would end the brackets it is put into.
 */
extern void given_expression(const char *argument, const char *text);

#endif							/* NEARDUP_GIVEN_QUERY_H */
