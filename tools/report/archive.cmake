# SPDX-License-Identifier: Apache-2.0
# cmake -DPYTHON=... -DOUT=FILE -DFOLDER=FOLDER -DFILES=... -P archive.cmake
# Packs the files, which are copied to FOLDER first, as one program.
file(REMOVE_RECURSE ${FOLDER})
file(COPY ${FILES} DESTINATION ${FOLDER})
execute_process(COMMAND ${PYTHON} -m zipapp ${FOLDER} -o ${OUT} -p "/usr/bin/env python3" -c
  COMMAND_ERROR_IS_FATAL ANY)
