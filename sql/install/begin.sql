/* neardup/sql/neardup--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION neardup" to load this file. \quit
