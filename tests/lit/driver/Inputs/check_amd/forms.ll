source_filename = "forms.hip"
target triple = "amdgcn-amd-amdhsa"

%struct.kmm_checked_blocks = type { i32, i32, i32, i32, i32, i32, i64 }
%struct.pair = type { float, float }

@tile = internal addrspace(3) global [64 x float] undef, align 4
@table = internal addrspace(1) global [64 x float] zeroinitializer, align 4
@weights = internal addrspace(4) constant [4 x float] zeroinitializer, align 4

; Function Attrs: noinline
define internal noundef i64 @_ZL16kmm_check_accessmmjm(i64 noundef %0, i64 noundef %1, i32 noundef %2, i64 noundef %3) #0 !dbg !5 {
  %5 = inttoptr i64 %0 to ptr
  %6 = load i64, ptr %5, align 8, !dbg !7
  ret i64 %6, !dbg !7
}

define internal float @helper(ptr nocapture noundef readonly %0) #1 !dbg !8 {
entry:
  %1 = load float, ptr %0, align 4, !dbg !9
  ret float %1
}

define protected amdgpu_kernel void @_Z7kmm_all18kmm_checked_blocksPf(ptr addrspace(4) nocapture readonly byref(%struct.kmm_checked_blocks) align 8 %0, ptr addrspace(1) noalias nocapture noundef %1, i64 noundef %2) #2 !dbg !10 {
  %4 = load i32, ptr addrspace(4) %0, align 8
  %5 = getelementptr inbounds float, ptr addrspace(1) %1, i64 1, !dbg !11
  %6 = load <4 x float>, ptr addrspace(1) %5, align 4, !dbg !11, !amdgpu.noclobber !20
  %7 = addrspacecast ptr addrspace(1) %5 to ptr
  %8 = load volatile double, ptr %7, align 8, !dbg !12
  store i8 3, ptr addrspace(1) %1, align 1
  store atomic i64 4, ptr addrspace(1) %1 syncscope("agent") monotonic, align 8, !dbg !12
  store <2 x float> <float 1.0, float 2.0>, ptr addrspace(1) %1, align 4
  store %struct.pair zeroinitializer, ptr addrspace(1) %1, align 4
  %9 = load float, ptr addrspace(3) @tile, align 4
  %10 = load float, ptr addrspace(1) @table, align 4
  %11 = load float, ptr addrspace(4) getelementptr inbounds ([4 x float], ptr addrspace(4) @weights, i64 0, i64 1), align 4
  %12 = alloca i32, align 4, addrspace(5)
  store i32 1, ptr addrspace(5) %12, align 4
  %13 = atomicrmw add ptr addrspace(1) %1, i32 1 syncscope("agent") monotonic, align 4, !dbg !13
  %14 = cmpxchg weak ptr %7, i64 0, i64 1 monotonic monotonic, align 8, !dbg !13
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) noundef align 4 dereferenceable(12) %1, ptr addrspace(1) noundef align 4 dereferenceable(12) %5, i64 12, i1 false), !dbg !13
  tail call void @llvm.memcpy.p1.p5.i64(ptr addrspace(1) align 4 %1, ptr addrspace(5) align 4 %12, i64 4, i1 false)
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 4 %1, i8 0, i64 %2, i1 false)
  %15 = call contract float @helper(ptr nocapture noundef readonly %7) #3, !dbg !11
  call void asm sideeffect "; a hint $0\0A\09s_nop 0\0Av_mov_b32 $0, 1", "=v"()
  switch i32 %4, label %16 [
    i32 0, label %17
    i32 1, label %16
  ]

16:                                               ; preds = %3, %3
  br label %17

17:                                               ; preds = %16, %3
  %18 = phi i32 [ 0, %3 ], [ 1, %16 ]
  call void @llvm.amdgcn.s.barrier()
  ret void, !dbg !11
}

define protected amdgpu_kernel void @_Z5plainPf(ptr addrspace(1) nocapture noundef %0) #2 !dbg !14 {
  %2 = addrspacecast ptr addrspace(1) %0 to ptr
  %3 = call float @helper(ptr noundef %2), !dbg !15
  store float %3, ptr addrspace(1) %0, align 4, !dbg !15
  ret void
}

declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p1.p5.i64(ptr addrspace(1), ptr addrspace(5), i64, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
declare void @llvm.amdgcn.s.barrier()

attributes #0 = { noinline nounwind "amdgpu-no-queue-ptr" "target-cpu"="gfx90a" }
attributes #1 = { noinline nounwind memory(argmem: read) "target-cpu"="gfx90a" }
attributes #2 = { nounwind "amdgpu-no-flat-scratch-init" "amdgpu-agpr-alloc"="0" "target-cpu"="gfx90a" }
attributes #3 = { nosync memory(read) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3, !4}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "clang", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "folder/forms.hip", directory: "/")
!2 = !DIFile(filename: "/opt/rocm/include/hip/amd_detail/amd_hip_atomic.h", directory: "")
!3 = !{i32 7, !"Dwarf Version", i32 5}
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "kmm_check_access", scope: !2, file: !2, line: 5, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !20)
!7 = !DILocation(line: 6, column: 1, scope: !5)
!8 = distinct !DISubprogram(name: "helper", scope: !1, file: !1, line: 3, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!9 = !DILocation(line: 4, column: 1, scope: !8)
!10 = distinct !DISubprogram(name: "kmm_all", scope: !1, file: !1, line: 10, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 14, column: 3, scope: !10)
!12 = !DILocation(line: 15, column: 3, scope: !10)
!13 = !DILocation(line: 192, column: 3, scope: !16, inlinedAt: !17)
!14 = distinct !DISubprogram(name: "plain", scope: !1, file: !1, line: 30, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!15 = !DILocation(line: 31, column: 3, scope: !14)
!16 = distinct !DISubprogram(name: "atomicAdd", scope: !2, file: !2, line: 190, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!17 = distinct !DILocation(line: 16, column: 3, scope: !18)
!18 = distinct !DILexicalBlock(scope: !10, file: !1, line: 12, column: 3)
!20 = !{}
