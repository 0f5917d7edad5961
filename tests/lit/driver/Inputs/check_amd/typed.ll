target triple = "amdgcn-amd-amdhsa"

define protected amdgpu_kernel void @_Z5plainPf(float addrspace(1)* nocapture %0) {
  %2 = load float, float addrspace(1)* %0, align 4
  ret void
}
