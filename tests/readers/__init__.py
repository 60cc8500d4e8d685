"""What readers make of files: of their names, their damage, their encodings.

what was found                                                 its class                                        tests
a `.csv.gz` with another digit, or length, was read            what a file says of its content holds            damage, page_checksums
files below `_temporary/`, and `_part.parquet`, were counted   hidden names, anywhere below what a path fixes   hidden_names
`ready=` with `**` waited for `00/_SUCCESS/_SUCCESS`           markers beside files in folders of any depth     hidden_names
`a*b.parquet`, and a folder `a[b]c`, were taken for patterns   every character of a name, in each reader        names_of_files
UTF-16 of the other byte order had garbage names of columns    every encoding, with and without a mark          encodings
"""
