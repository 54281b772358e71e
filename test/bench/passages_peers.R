#
# test/bench/passages_peers.R
#		The single local alignment that textreuse finds in two texts, its share of the
#		first text, and seconds of CPU.
#
#	Rscript passages_peers.R FILE FILE
#
# Fails without the package textreuse, whose alignment uses a matrix of 4 bytes for each
# pair of words.
#
# Portions Copyright (c) 2026, the neardup developers
#
if (!requireNamespace("textreuse", quietly = TRUE)) quit(status = 1)
texts <- vapply(commandArgs(trailingOnly = TRUE), function(f)
  paste(readLines(f, encoding = "UTF-8"), collapse = "\n"), "")

cpu <- function() sum(proc.time()[c("user.self", "sys.self")])
began <- cpu()
found <- textreuse::align_local(texts[[1]], texts[[2]])
took <- cpu() - began
words <- strsplit(found$a_edits, " ", fixed = TRUE)[[1]]
words <- words[!grepl("^#+$", words)]		# those are not of the first text
share <- sum(nchar(words)) / sum(nchar(textreuse::tokenize_words(texts[[1]])))
cat(sprintf("1 %f %f\n", share, took))
