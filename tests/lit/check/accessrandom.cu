// RUN: %python %S/Inputs/random_accesses.py 1 240 %kmmcc --target=host | FileCheck %s
// RUN: %python %S/Inputs/random_accesses.py 2 240 %kmmcc --target=host | FileCheck %s
// Random launches: no correct one has an error, and each mistake that does not depend on data has one.
// CHECK: correct 120 launches, 0 errors
// CHECK: 240 launches, 0 not as they must be
