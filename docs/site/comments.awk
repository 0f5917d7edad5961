# SPDX-License-Identifier: Apache-2.0
# Makes plain comments Doxygen's: the first one the file's, those in lines of their own what follows
# has, and those behind a declaration its own. Titles of sections are nobody's.
NR == 1 { print ""; next }
!begun && /^\/\*/ { begun = 1; sub(/^\/\*/, "/** @file\n *"); print; next }
!begun && /^\/\// { begun = 1; print "/// @file"; print "///"; sub(/^\/\//, "///"); print; next }
/^ *\/\/ -+ / || /^ *\/\* -+ / { print; next }
/^ *\/\/( |$)/ { sub(/\/\//, "///"); print; next }
/[;,{}a-zA-Z0-9)] +\/\/ / && !/^#/ { sub(/ \/\/ /, " ///< "); print; next }
/^ *\/\*( |$)/ { sub(/\/\*/, "/**"); print; next }
/[;,{}a-zA-Z0-9)] +\/\* .*\*\/ *$/ && !/^#/ { sub(/ \/\* /, " /**< "); print; next }
{ print }
