package parse

// traceTexts are shapes that are rarer or made to be hard.
var traceTexts = []struct{ name, text, want string }{
	{"eight ranks line by line, no prefix behind the header",
		`
[2026-03-11 09:09:38 TP0] Scheduler hit an exception: Traceback (most recent call last):
[2026-03-11 09:09:38 TP1] Scheduler hit an exception: Traceback (most recent call last):
[2026-03-11 09:09:38 TP2] Scheduler hit an exception: Traceback (most recent call last):
[2026-03-11 09:09:38 TP3] Scheduler hit an exception: Traceback (most recent call last):
  File "a.py", line 1, in run
  File "a.py", line 1, in run
  File "a.py", line 1, in run
  File "a.py", line 1, in run
    x = f()
    x = f()
    x = f()
    x = f()
  File "b.py", line 2, in f
    g()
  File "b.py", line 2, in f
    g()
  File "b.py", line 2, in f
    g()
  File "b.py", line 2, in f
    g()
RuntimeError: boom
RuntimeError: boom
RuntimeError: boom
RuntimeError: boom




[2026-03-11 09:09:40] SIGQUIT received. signum=3
`,
		`
1 TP0 <Scheduler hit an exception>
  RuntimeError|boom|2|@22
2 TP1 <Scheduler hit an exception>
  RuntimeError|boom|2|@23
3 TP2 <Scheduler hit an exception>
  RuntimeError|boom|2|@24
4 TP3 <Scheduler hit an exception>
  RuntimeError|boom|2|@21
`},
	{"two ranks, headers together, stacks one after the other",
		`
[2026-03-11 09:09:38 TP0] Scheduler hit an exception: Traceback (most recent call last):
[2026-03-11 09:09:38 TP1] Scheduler hit an exception: Traceback (most recent call last):
  File "a.py", line 1, in run
    f()
  File "b.py", line 2, in f
    g()
ValueError: a

  File "a.py", line 1, in run
    f()
  File "b.py", line 2, in f
    g()
ValueError: a

`,
		`
1 TP0 <Scheduler hit an exception>
  ValueError|a|2|@13
2 TP1 <Scheduler hit an exception>
  ValueError|a|2|@7
`},
	{"log lines of other ranks between the frames",
		`
[2026-03-11 09:09:38 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "a.py", line 1, in run
    f()
[2026-03-11 09:09:38 TP1] Decode batch, #running-req: 1, #token: 10, token usage: 0.00, gen throughput (token/s): 1.00, #queue-req: 0, 
INFO:     127.0.0.1:3 - "GET /health HTTP/1.1" 200 OK
  File "b.py", line 2, in f
    g()
[2026-03-11 09:09:38 TP2] some message
RuntimeError: boom
second line

[2026-03-11 09:09:39 TP0] bye
`,
		`
1 TP0 <Scheduler hit an exception>
  RuntimeError|boom|2|@9
`},
	{"header glued to a batch line",
		`
[2026-03-11 09:09:38 TP0] Decode batch, #running-req: 4, #token: 5Traceback (most recent call last):
  File "a.py", line 1, in run
KeyError: 3
`,
		`
1 TP0 <Decode batch, #running-req: 4, #token: 5>
  KeyError|3|1|@3
`},
	{"header glued to a progress bar",
		`
Capturing batches (bs=1):  50%|██   | 1/2 [00:05<00:37,  2.19s/it]Traceback (most recent call last):
  File "a.py", line 1, in run
KeyError: 3
`,
		`
1
  KeyError|3|1|@3
`},
	{"capture help",
		`
[2026-03-11 09:09:38 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "m.py", line 5, in capture
    f()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "s.py", line 9, in run
    g()
Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 1 GiB.
Possible solutions:
1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)
2. set --cuda-graph-max-bs to a smaller value (e.g., 16)
Open an issue on GitHub https://example.org/issues/new/choose 

[2026-03-11 09:09:40] Received sigquit from a child process.
`,
		`
1 TP0 <Scheduler hit an exception>
  torch.OutOfMemoryError|CUDA out of memory. Tried to allocate 1 |1|context@4
  Exception|Capture cuda graph failed: CUDA out of m|1|@11
`},
	{"vLLM's logger on every line, two workers interleaved",
		`
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] WorkerProc hit an exception.
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] WorkerProc hit an exception.
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] Traceback (most recent call last):
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] Traceback (most recent call last):
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815]   File "w.py", line 810, in worker_busy_loop
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815]   File "w.py", line 810, in worker_busy_loop
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815]     output = func()
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815]     output = func()
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815]              ^^^^^^
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815]              ^^^^^^
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] AssertionError
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] AssertionError
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] 
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] 
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] The above exception was the direct cause of the following exception:
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] The above exception was the direct cause of the following exception:
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] 
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] 
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] Traceback (most recent call last):
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] Traceback (most recent call last):
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815]   File "w.py", line 812, in other
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815]   File "w.py", line 812, in other
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] RuntimeError: CUDA error: boom
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] RuntimeError: CUDA error: boom
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] For debugging consider passing CUDA_LAUNCH_BLOCKING=1
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] For debugging consider passing CUDA_LAUNCH_BLOCKING=1
(Worker_TP0 pid=400) ERROR 11-10 09:22:04 [multiproc_executor.py:815] 
(Worker_TP1 pid=401) ERROR 11-10 09:22:04 [multiproc_executor.py:815] 
`,
		`
3 TP0 <WorkerProc hit an exception>
  AssertionError||1|cause@11
  RuntimeError|CUDA error: boom|1|@23
4 TP1 <WorkerProc hit an exception>
  AssertionError||1|cause@12
  RuntimeError|CUDA error: boom|1|@24
`},
	{"vLLM V0, no process prefix, carriage returns",
		"ERROR 02-25 11:10:53 engine.py:139] Traceback (most recent call last):\r\nERROR 02-25 11:10:53 engine.py:139]   File \"w.py\", line 810, in worker_busy_loop\r\nERROR 02-25 11:10:53 engine.py:139]     output = func()\r\nERROR 02-25 11:10:53 engine.py:139]              ^^^^^^\r\nERROR 02-25 11:10:53 engine.py:139] AssertionError\r\nINFO 02-25 11:10:54 launcher.py:1] bye\n",
		`
1
  AssertionError||1|@5
`},
	{"raw lines with a process prefix",
		`
(EngineCore_DP0 pid=7) Process EngineCore_DP0:
(APIServer pid=1) INFO:     Waiting
(EngineCore_DP0 pid=7) Traceback (most recent call last):
(EngineCore_DP0 pid=7)   File "p.py", line 3, in run
(APIServer pid=1) Traceback (most recent call last):
(EngineCore_DP0 pid=7) ValueError: No available memory
(EngineCore_DP0 pid=7)
(APIServer pid=1)   File "q.py", line 3, in run
(APIServer pid=1) RuntimeError: Engine core initialization failed.
`,
		`
3 DP0 <Process EngineCore_DP0>
  ValueError|No available memory|1|@6
5
  RuntimeError|Engine core initialization failed.|1|@9
`},
	{"two parentheses",
		`
(Worker pid=907) (Worker_TP0 pid=907) ERROR 05-11 19:04:07 [m.py:1] Traceback (most recent call last):
(Worker pid=907) (Worker_TP0 pid=907) ERROR 05-11 19:04:07 [m.py:1]   File "p.py", line 3, in run
(Worker pid=907) (Worker_TP0 pid=907) ERROR 05-11 19:04:07 [m.py:1] ValueError: x
`,
		`
1 TP0
  ValueError|x|1|@3
`},
	{"Ray repeats",
		`
(RayWorkerWrapper pid=2416, ip=10.0.0.2) Traceback (most recent call last): [repeated 3x across cluster]
(RayWorkerWrapper pid=2416, ip=10.0.0.2)   File "a.py", line 1, in f [repeated 3x across cluster]
(RayWorkerWrapper pid=2416, ip=10.0.0.2) ValueError: x [repeated 3x across cluster]
`,
		`
1 x4
  ValueError|x|1|@3
`},
	{"cut",
		`
x
Traceback (most recent call last):
  File "a.py", line 1, in f
    g()
  File "b.py", line 2, in g
`,
		`
2
  ||2|@0
  cut
`},
	{"warm-up error that holds a traceback",
		`
Traceback (most recent call last):
  File "bench.py", line 9, in main
    run()
ValueError: Warmup failed - Please check. Error: Traceback (most recent call last):
  File "client.py", line 2, in send
ConnectionRefusedError: [Errno 111] Connect call failed

bye
`,
		`
1
  ConnectionRefusedError|[Errno 111] Connect call failed|1|cause@6
  ValueError|Warmup failed - Please check. Error:|1|@4
`},
	{"nested groups",
		`
  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in f
  | ExceptionGroup: outer (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Exception Group Traceback (most recent call last):
    |   File "b.py", line 2, in g
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | ValueError: deep
      +------------------------------------
    +---------------- 2 ----------------
    | TypeError: flat
    | second line
    +------------------------------------

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "c.py", line 3, in h
RuntimeError: after the group
`,
		`
1
  ExceptionGroup|outer (2 sub-exceptions)|1|cause@3
    ExceptionGroup|inner (1 sub-exception)|1|@7
      ValueError|deep|0|@9
    TypeError|flat|0|@12
  RuntimeError|after the group|1|@20
`},
	{"group in vLLM's raw prefix",
		`
(APIServer pid=1) ERROR:    Exception in ASGI application
(APIServer pid=1)   + Exception Group Traceback (most recent call last):
(APIServer pid=1)   |   File "a.py", line 1, in f
(APIServer pid=1)   | ExceptionGroup: outer (1 sub-exception)
(APIServer pid=1)   +-+---------------- 1 ----------------
(APIServer pid=1)     | Traceback (most recent call last):
(APIServer pid=1)     |   File "b.py", line 2, in g
(APIServer pid=1)     | OSError: deep
(APIServer pid=1)     +------------------------------------
(APIServer pid=1) INFO:     Shutting down
`,
		`
2 <Exception in ASGI application>
  ExceptionGroup|outer (1 sub-exception)|1|@4
    OSError|deep|1|@8
`},
	{"asyncio",
		`
Task exception was never retrieved
future: <Task finished name='Task-1' coro=<f() done> exception=ValueError('x')>
Traceback (most recent call last):
  File "a.py", line 1, in f
ValueError: x
`,
		`
3 <Task exception was never retrieved>
  ValueError|x|1|@5
`},
	{"exception lines alone",
		`
[2026-03-11 09:09:38 TP0] RuntimeError: CUDA error: an illegal memory access was encountered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
something else
requests.exceptions.ConnectionError: refused
step 1
`,
		`
1 TP0
  RuntimeError|CUDA error: an illegal memory access was|0|@1
4
  requests.exceptions.ConnectionError|refused|0|@4
`},
	{"c10 stack in a message",
		`
Traceback (most recent call last):
  File "a.py", line 1, in f
RuntimeError: NCCL error in: x.cpp:1, internal error
Exception raised from query at /pytorch/c10/cuda/CUDAEvent.h:111 (most recent call first):
frame #0: c10::Error::Error() + 0x9d (0x7f in libc10.so)

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "b.py", line 2, in g
OSError: y
`,
		`
1
  RuntimeError|NCCL error in: x.cpp:1, internal error|1|context@3
  OSError|y|1|@11
`},
	{"docker json",
		`
{"log":"Traceback (most recent call last):\n","stream":"stderr","time":"2026-01-02T03:04:05.1Z"}
{"log":"  File \"a.py\", line 1, in f\n","stream":"stderr","time":"2026-01-02T03:04:05.2Z"}
{"log":"ValueError: \"x\"\n","stream":"stderr","time":"2026-01-02T03:04:05.3Z"}
`,
		`
1
  ValueError|"x"|1|@3
`},
	{"CRI",
		`
2026-01-02T03:04:05.0+00:00 stderr F [2026-01-02 03:04:05 TP1] Scheduler hit an exception: Traceback (most recent call last):
2026-01-02T03:04:05.1+00:00 stderr F   File "a.py", line 1, in f
2026-01-02T03:04:05.2+00:00 stderr F ValueError: x
2026-01-02T03:04:05.3+00:00 stderr F 
`,
		`
1 TP1 <Scheduler hit an exception>
  ValueError|x|1|@3
`},
	{"srun --label",
		`
0: Traceback (most recent call last):
1: Traceback (most recent call last):
0:   File "a.py", line 1, in f
1:   File "a.py", line 1, in f
0:     g()
1:     g()
0: ValueError: x
1: ValueError: x
`,
		`
1
  ValueError|x|1|@7
2
  ValueError|x|1|@8
`},
	{"compose, two services",
		`
srv-1  | Traceback (most recent call last):
router-1  | Traceback (most recent call last):
srv-1  |   File "a.py", line 1, in f
router-1  |   File "a.py", line 1, in f
srv-1  |     g()
router-1  |     g()
srv-1  | ValueError: x
router-1  | ValueError: x
`,
		`
1
  ValueError|x|1|@7
2
  ValueError|x|1|@8
`},
	{"TGI",
		`
2024-10-16T10:48:41.374381Z ERROR shard-manager: text_generation_launcher: Shard complete standard error output:

Traceback (most recent call last):
  File "a.py", line 1, in serve
RuntimeError: weight missing rank=0
2024-10-16T10:48:42.374381Z ERROR text_generation_launcher: Shard 0 failed to start
`,
		`
3 <text_generation_launcher: Shard complete>
  RuntimeError|weight missing rank=0|1|@5
`},
	{"garbled terminate",
		`
terminate called after throwing an instance of 'c10::DistBackendErrorterminate called after throwing an instance of 'c10::DistBackendError'
'
  what():  [PG 3 Rank 5] Process group watchdog thread terminated with exception: NCCL timeout
more

Exception raised from run at x.cpp:1 (most recent call first):
frame #0: f() + 0x1 (0x7f in lib.so)

[2026-03-11 09:09:38] bye
`,
		`
1 rank5 c++
  c10::DistBackendError|[PG 3 Rank 5] Process group watchdog thr|0|@3
`},
	{"aborts of the C library",
		`
free(): invalid pointer
double free or corruption (!prev)
Segmentation fault (core dumped)
`,
		`
1 c++
  SIGABRT|free(): invalid pointer|0|@1
2 c++
  SIGABRT|double free or corruption (!prev)|0|@2
3 c++
  SIGSEGV|Segmentation fault (core dumped)|0|@3
`},
	{"py-spy",
		`
Process 2416: sglang::scheduler_TP6
Python v3.12.3 (/usr/bin/python3.12)

Thread 309 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    event_loop (sglang/srt/managers/scheduler.py:78)
Thread 310 (idle): "Thread-1"
    wait (threading.py:320)
[2026-03-11 09:09:38] Watchdog timeout (self.watchdog_timeout=300)
`,
		`
1 py-spy
  stack dump|sglang::scheduler_TP6|2|@1
`},
	{"native frames of another process in between",
		`
(Worker_TP0 pid=5) Fatal Python error: Aborted
(Worker_TP1 pid=6) Fatal Python error: Aborted
(Worker_TP0 pid=5) 
(Worker_TP0 pid=5) Current thread 0x00007f (most recent call first):
(Worker_TP1 pid=6) Current thread 0x00007f (most recent call first):
(Worker_TP0 pid=5)   File "a.py", line 1 in f
(Worker_TP1 pid=6)   File "b.py", line 1 in f
(Worker_TP1 pid=6)   File "b.py", line 2 in g
`,
		`
1 TP0 faulthandler
  Fatal Python error|Aborted|1|@1
2 TP1 faulthandler
  Fatal Python error|Aborted|2|@2
`},
	{"quoted text is no evidence",
		`
[2026-03-11 09:09:38] Receive: obj=GenerateReqInput(rid='1', text='RuntimeError: x Traceback (most recent call last):
RuntimeError: not quoted
`,
		`
2
  RuntimeError|not quoted|0|@2
`},
}
