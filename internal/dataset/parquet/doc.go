// Package parquet reads columns of Parquet files in bounded memory, and writes such files.
//
// A Parquet file says in many places how large its parts are: lists in its footer, pages, runs of equal values. A file
// of a few bytes can claim gigabytes there. Nothing is allocated here for a claim that the bytes at hand cannot hold,
// and a page or a footer above a limit is refused. That is why a library is not used: those for Go allocate what a file
// claims, and the largest adds a third to the program.
//
// Read are columns of whole numbers, floating-point numbers, text and times, and lists of numbers or text, also as
// fields of the groups of a list; pages of version 1 and 2; plain and dictionary encoding; no compression, Snappy, gzip
// and zstd. That is what pandas, polars and Arrow write unless they are told otherwise. All else is refused by its
// name. Source: the format's specification, github.com/apache/parquet-format, parquet.thrift and Encodings.md, version
// 2.11.
package parquet
