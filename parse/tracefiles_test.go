package parse

// traceFiles are outputs of real programs with what they hold. plain is the
// number of lines that nobody is expected to understand.
var traceFiles = []struct {
	name  string
	plain int64
	want  string
}{
	{"trace/asgi_group.txt", 0, `
3 <Exception in ASGI application>
  ExceptionGroup|unhandled errors in a TaskGroup (1 sub-e|1|@5
    zmq.error.ZMQError|Too many open files|3|@13
16 <Exception in ASGI application>
  ExceptionGroup|unhandled errors in a TaskGroup (1 sub-e|1|@18
    zmq.error.ZMQError|Too many open files|3|@26
29 <Exception in ASGI application>
  ExceptionGroup|unhandled errors in a TaskGroup (1 sub-e|1|@31
    zmq.error.ZMQError|Too many open files|3|@39
`},
	{"trace/assert_index.txt", 0, "1 cuda x4\n  CUDA device-side assert|Assertion `srcIndex < srcSelectDimSize` |1|@1\n5\n  torch.AcceleratorError|CUDA error: device-side assert triggered|1|@9\n"},
	{"trace/capture.txt", 0, `
1
  torch.AcceleratorError|CUDA error: operation not permitted when|1|context@5
  torch.AcceleratorError|CUDA error: operation failed due to a pr|3|@21
`},
	{"trace/compile_fail.txt", 0, `
1
  torch._dynamo.exc.Unsupported|Failed to trace builtin operator|2|@7
`},
	{"trace/compose_ray.txt", 0, `
6 <Error executing method 'load_model'. Thi>
  AssertionError|Sinks are only supported in FlashAttenti|5|@12
15 <Error executing method 'load_model'. Thi>
  AssertionError|Sinks are only supported in FlashAttenti|5|@21
23 <EngineCore failed to start>
  AssertionError|Sinks are only supported in FlashAttenti|0|cause@28
  ray.exceptions.RayTaskError(AssertionError)|ray::RayWorkerWrapper.execute_method() (|3|@27
30
  RuntimeError|Engine core initialization failed. See r|0|@30
`},
	{"trace/dup_gpu.txt", 0, `
4
  torch.distributed.DistBackendError|NCCL error in: /pytorch/torch/csrc/distr|4|cause@31
  torch.multiprocessing.spawn.ProcessRaisedException||4|@16
`},
	{"trace/faulthandler.txt", 0, `
2 faulthandler
  Fatal Python error|Segmentation fault|4|@2
`},
	{"trace/faulthandler_threads.txt", 0, `
2 faulthandler
  Fatal Python error|Segmentation fault|5|@2
`},
	{"trace/gated_repo.txt", 2, `
1
  requests.exceptions.HTTPError|401 Client Error: Unauthorized for url: |2|cause@4
  huggingface_hub.errors.GatedRepoError|401 Client Error. (Request ID: Root=1-00|2|cause@11
  OSError|You are trying to access a gated repo.|3|@22
25
  RuntimeError|Engine process failed to start|2|@28
`},
	{"trace/group.txt", 0, `
1
  ExceptionGroup|unhandled errors in a TaskGroup (2 sub-e|6|@17
    ValueError|first|1|@23
    ZeroDivisionError|division by zero|1|cause@29
    RuntimeError|second|1|@37
`},
	{"trace/hf_path.txt", 0, `
1
  huggingface_hub.errors.HFValidationError|Repo id must be in the form 'repo_name' |3|cause@8
  OSError|Repo id must be in the form 'repo_name' |6|@29
`},
	{"trace/illegal.txt", 0, `
1
  torch.AcceleratorError|CUDA error: an illegal memory access was|1|@5
11
  cupy_backends.cuda.api.driver.CUDADriverError|CUDA_ERROR_ILLEGAL_ADDRESS: an illegal m|2|@14
16 <Exception ignored in: 'cupy.cuda.functio>
  cupy_backends.cuda.api.driver.CUDADriverError|CUDA_ERROR_ILLEGAL_ADDRESS: an illegal m|2|@19
`},
	{"trace/k8s_ranks.txt", 0, `
4 DP3 TP3 <Scheduler hit an exception>
  RuntimeError|seqlens_k must have shape (batch_size)|15|@20
22 DP7 TP7 <Scheduler hit an exception>
  RuntimeError|seqlens_k must have shape (batch_size)|15|@38
40 DP5 TP5 <Scheduler hit an exception>
  RuntimeError|seqlens_k must have shape (batch_size)|15|@56
60 faulthandler
  Fatal Python error|Aborted|0|@60
`},
	{"trace/old_prefix.txt", 0, `
7 TP3
  ValueError|The memory capacity is unbalanced. Some |5|@13
15 TP1
  ValueError|The memory capacity is unbalanced. Some |5|@21
23 TP0
  ValueError|The memory capacity is unbalanced. Some |5|@29
`},
	{"trace/pool_remote.txt", 0, `
3 <concurrent.futures.process._RemoteTraceb>
  RuntimeError|CUDA error: an illegal memory access was|3|cause@13
  RuntimeError|CUDA error: an illegal memory access was|6|@35
`},
	{"trace/ray_sigsegv.txt", 0, `
13 c++
  SIGSEGV|*** SIGSEGV received at time=1739339449 |1|@13
18 faulthandler
  Fatal Python error|Segmentation fault|2|@18
24
  ActorDiedError|The actor died unexpectedly before finis|0|@24
`},
	{"trace/refused_requests.txt", 0, `
1
  ConnectionRefusedError|[Errno 111] Connection refused|3|cause@9
  urllib3.exceptions.NewConnectionError|HTTPConnection(host='localhost', port=80|8|cause@32
  urllib3.exceptions.MaxRetryError|HTTPConnectionPool(host='localhost', por|3|context@46
  requests.exceptions.ConnectionError|HTTPConnectionPool(host='localhost', por|6|@68
`},
	{"trace/segv.txt", 0, `
1 faulthandler
  Fatal Python error|Segmentation fault|2|@1
`},
	{"trace/spawn_child.txt", 0, `
2 <Process SpawnProcess-1>
  KeyError|'missing'|1|context@6
  AttributeError|'PrefillMetadata' object has no attribut|3|@18
20 <Process SpawnProcess-2>
  KeyError|'missing'|1|context@24
  AttributeError|'PrefillMetadata' object has no attribut|3|@36
38 <Process SpawnProcess-3>
  KeyError|'missing'|1|context@42
  AttributeError|'PrefillMetadata' object has no attribut|3|@54
56 <Process SpawnProcess-4>
  KeyError|'missing'|1|context@60
  AttributeError|'PrefillMetadata' object has no attribut|3|@72
`},
	{"trace/store_timeout.txt", 0, `
53
  torch.distributed.DistNetworkError|The client socket has timed out after 80|6|@71
`},
	{"trace/torchrun.txt", 3, `
5
  torch.AcceleratorError|CUDA error: invalid device ordinal|1|@8
14
  torch.AcceleratorError|CUDA error: invalid device ordinal|1|@17
25 <failed (exitcode: 1) local_rank: 0 (pid:>
  torch.distributed.elastic.multiprocessing.errors.ChildFailedError||6|@41
`},
	{"trace/two_ranks.txt", 3, `
20 rank1
  torch.AcceleratorError|CUDA error: an illegal memory access was|2|@27
50 rank1 c++
  c10::DistBackendError|[PG ID 0 PG GUID 0(default_pg) Rank 1] P|0|@51
77 <failed (exitcode: -6) local_rank: 1 (pid>
  torch.distributed.elastic.multiprocessing.errors.ChildFailedError||6|@93
`},
}
