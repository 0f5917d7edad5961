target triple = "amdgcn-amd-amdhsa"

%struct.kmm_checked_blocks = type { i32, i32, i32, i32, i32, i32, i64 }

define internal i64 @_ZL16kmm_check_accessmmjm(i64 %0, i64 %1, i32 %2, i64 %3) {
  ret i64 %1
}
define internal void @stream(ptr %0) {
  call void asm sideeffect "v_nop\0Aglobal_store_dword $0, v0, off", "v"(ptr %0)
  ret void
}
define protected amdgpu_kernel void @_Z8kmm_blur18kmm_checked_blocksPf(ptr addrspace(4) byref(%struct.kmm_checked_blocks) align 8 %0, ptr addrspace(1) %1) !dbg !5 {
  %3 = call <4 x float> @llvm.amdgcn.image.load.2d.v4f32.i32.v8i32(i32 15, i32 0, i32 0, <8 x i32> zeroinitializer, i32 0, i32 0), !dbg !7
  ret void
}
define protected amdgpu_kernel void @_ZN2ns7kmm_farE18kmm_checked_blocksPf(ptr addrspace(4) byref(%struct.kmm_checked_blocks) align 8 %0, ptr addrspace(1) %1) {
  call void @hidden()
  ret void
}
define protected amdgpu_kernel void @kmm_in_c(ptr addrspace(4) byref(%struct.kmm_checked_blocks) align 8 %0, ptr %1) {
  call void @stream(ptr %1)
  ret void
}
define protected amdgpu_kernel void @_Z9kmm_apart18kmm_checked_blocksPf(i32 %0, ptr %1) {
  ret void
}
define protected amdgpu_kernel void @_Z8kmm_wide18kmm_checked_blocksPf(ptr addrspace(4) byref(%struct.kmm_checked_blocks) align 8 %0, ptr addrspace(1) %1) {
  %3 = load <32 x float>, ptr addrspace(1) %1, align 4
  ret void
}
define protected amdgpu_kernel void @_Z8kmm_cast18kmm_checked_blocksPf(ptr addrspace(4) byref(%struct.kmm_checked_blocks) align 8 %0, ptr addrspace(1) %1) {
  %3 = addrspacecast ptr addrspace(1) %1 to ptr addrspace(4)
  %4 = load float, ptr addrspace(4) %3, align 4
  ret void
}
define protected amdgpu_kernel void @_Z6kmm_ok18kmm_checked_blocksPf(ptr addrspace(4) byref(%struct.kmm_checked_blocks) align 8 %0, ptr addrspace(1) %1) {
  ret void
}
define protected amdgpu_kernel void @_Z5plainPf(ptr addrspace(1) %0) {
  call void @hidden()
  ret void
}
declare void @hidden()
declare <4 x float> @llvm.amdgcn.image.load.2d.v4f32.i32.v8i32(i32, i32, i32, <8 x i32>, i32, i32)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "clang", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "refused.hip", directory: "/")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "kmm_blur", scope: !1, file: !1, line: 20, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !8)
!7 = !DILocation(line: 22, column: 1, scope: !5)
!8 = !{}
