package parse

import (
	"strings"
	"testing"
)

const migTable = `+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:18:00.0 Off |                   On |
| N/A   31C    P0             77W /  700W |      88MiB /  81559MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|      Shared           |
|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC DEC OFA JPG    |
|                  |                                  |        ECC|                       |
|==================+==================================+===========+=======================|
|  0    1   0   0  |            44MiB / 40448MiB      | 60      0 |  3   0    3    0    3 |
|                  |                 0MiB / 65535MiB  |           |                       |
+------------------+----------------------------------+-----------+-----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0    1    0      41235      C   python3                                       36MiB  |
+-----------------------------------------------------------------------------------------+
`

const migXML = `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<driver_version>550.54.14</driver_version>
	<attached_gpus>1</attached_gpus>
	<gpu id="00000000:18:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<mig_mode>
			<current_mig>Enabled</current_mig>
		</mig_mode>
		<mig_devices>
			<mig_device>
				<index>0</index>
				<fb_memory_usage>
					<total>40448 MiB</total>
					<used>44 MiB</used>
				</fb_memory_usage>
			</mig_device>
		</mig_devices>
		<fb_memory_usage>
			<total>81559 MiB</total>
			<used>88 MiB</used>
		</fb_memory_usage>
	</gpu>
</nvidia_smi_log>
`

// TestFolder reads one sample of each further thing that such a folder holds.
func TestFolder(t *testing.T) {
	runEventCases(t, []eventCase{
		{"nvidia-smi, MIG", migTable, `environment driver_version="550.54.14" cuda_version="12.4"
gpu index="0" name="NVIDIA H100 80GB HBM3" bus="0000:18:00" ecc="On" perf="P0" gpu_temperature=31 gpu_power=77 gpu_power_limit=700 gpu_memory_used=88 gpu_memory_total=81559
gpu-process index="0" pid="41235" name="python3" memory_mib="36" type="C"`},
		{"nvidia-smi -q -x, MIG", migXML, `environment driver_version="550.54.14"
gpu bus="0000:18:00" name="NVIDIA H100 80GB HBM3" mig="Enabled" index="0" gpu_memory_total=81559 gpu_memory_used=88`},
		{"dcgmi dmon", "#Entity   GPUTL   MCUTL   POWER      TMPTR   FBUSD   XIDER\nID                        W          C\nGPU 0     75      42      185.300    68      28456   0\nGPU 1     0       0       N/A        30      12      79\nGPU-I 1   0       0       N/A        30      12      0\n",
			`gpu index="0" xid="0" gpu_utilization=75 gpu_power=185.3 gpu_temperature=68 gpu_memory_used=28456
gpu index="1" xid="79" gpu_utilization=0 gpu_temperature=30 gpu_memory_used=12`},
		{"sacct", "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n------------ ---------- ---------- ---------- ---------- ---------- -------- \n113              sglang        gpu       team         96 OUT_OF_ME+    0:125 \n113.batch         batch                  team         96 CANCELLED      0:15 \n",
			`state what="slurm" name="113" state="OUT_OF_MEMORY" exit_code="0"
state what="slurm" name="113.batch" state="CANCELLED" exit_code="143" signal="TERM"`},
		{"sacct -P", "JobID|JobName|State|ExitCode|Reason\n113|sglang|TIMEOUT|0:0|None\n113.0|python|CANCELLED by 1000|0:9|\n",
			`state what="slurm" name="113" state="TIMEOUT" exit_code="0"
state what="slurm" name="113.0" state="CANCELLED by 1000" exit_code="137" signal="KILL"`},
		{"kubectl describe pod", "Name:             sgl-0\nNamespace:        bench\nContainers:\n  server:\n    State:          Waiting\n      Reason:       CrashLoopBackOff\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n      Finished:     Wed, 17 Jun 2026 17:51:53 +0000\n    Ready:          False\n    Restart Count:  3\n",
			`state what="pod" name="sgl-0" state="Waiting" reason="CrashLoopBackOff"
state what="pod" name="sgl-0" state="Terminated" last="true" reason="OOMKilled" exit_code="137"`},
		{"kubectl get events", "LAST SEEN   TYPE      REASON      OBJECT      MESSAGE\n2m          Warning   OOMKilling  node/n1     Memory cgroup out of memory\n",
			`state what="event" name="node/n1" state="Warning" reason="OOMKilling" message="Memory cgroup out of memory"`},
		{"docker inspect", "[\n    {\n        \"Id\": \"4f\",\n        \"State\": {\n            \"Status\": \"exited\",\n            \"Running\": false,\n            \"OOMKilled\": true,\n            \"ExitCode\": 137,\n            \"Error\": \"\"\n        },\n        \"Image\": \"x\"\n    }\n]\n",
			`state what="container" state="exited" oom_killed="true" exit_code="137"`},
		{"supervisord", "2026-06-01 12:00:00,123 INFO exited: sglang (exit status 1; not expected)\n2026-06-01 12:00:00,123 INFO exited: router (terminated by SIGKILL; not expected)\n",
			`state what="supervisor" name="sglang" state="exited" exit_code="1"
state what="supervisor" name="router" state="exited" exit_code="137" signal="KILL"`},
		{"free and df", "$ free -h\n               total        used        free      shared  buff/cache   available\nMem:           2.0Ti       1.9Ti        10Gi       3.0Gi        90Gi        60Gi\nSwap:             0B          0B          0B\n$ df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted on\nshm              64M   60M  4.1M  94% /dev/shm\n",
			`command argv="free -h"
environment memory_total="2.0Ti" memory_used="1.9Ti" memory_available="60Gi"
command argv="df -h /dev/shm"
environment disk_used:/dev/shm="94% of 64M"`},
		{"script(1)", "Script started on 2026-06-17 17:51:53+00:00 [COMMAND=\"x\"]\nfoo\nScript done on 2026-06-17 17:52:53+00:00 [COMMAND_EXIT_CODE=\"1\"]\n",
			"mark\nexit code=\"1\""},
		{"GitHub Actions", "2026-06-17T17:51:53.2900000Z ##[group]Run bench\n2026-06-17T17:51:54.2900000Z ##[error]Process completed with exit code 137.\n", `exit code="137" signal="KILL"`},
		{"check_env", "Python: 3.12.3 (main, Jun 18 2025, 17:59:45) [GCC 13.2.0]\nCUDA available: True\nGPU 0,1: NVIDIA H200\nGPU 0,1 Compute Capability: 9.0\nCUDA_HOME: /usr/local/cuda\nNVCC: Cuda compilation tools, release 12.9, V12.9.86\nCUDA Driver Version: 580.95.05\nPyTorch: 2.9.1+cu129\nsglang: 0.5.6\nsgl_kernel: 0.3.18\nhf_transfer: Module Not Found\nNVIDIA Topology: \nulimit soft: 1048576\n",
			`environment python="3.12.3 (main, Jun 18 2025, 17:59:45) [GCC 13.2.0]"
environment cuda_available="True"
environment gpus="GPU 0,1: NVIDIA H200"
environment cuda_home="/usr/local/cuda"
environment nvcc="Cuda compilation tools, release 12.9, V12.9.86"
environment driver_version="580.95.05"
environment torch="2.9.1+cu129"
environment sglang="0.5.6"
environment sgl_kernel="0.3.18"
environment ulimit_n="1048576"`},
		{"collect_env", "Collecting environment information...\n==============================\n        System Info\n==============================\nOS                           : Ubuntu 22.04.5 LTS (x86_64)\nPyTorch version              : 2.9.0+cu129\nIs CUDA available            : True\nGPU models and configuration : \nGPU 0: NVIDIA H200\n[pip3] torch==2.9.0\n[pip3] numpy==2.2.6\nvLLM Version                 : 0.12.0\n",
			`environment os="Ubuntu 22.04.5 LTS (x86_64)"
environment torch="2.9.0+cu129"
environment cuda_available="True"
environment gpus="GPU 0: NVIDIA H200"
environment torch="2.9.0"
environment numpy="2.2.6"
environment vllm="0.12.0"`},
		{"vllm bench sweep", "[BEGIN SERVER]\nServer overrides: {}\nServer command: ['vllm', 'serve', 'm', '--port', '8000']\n[BEGIN BENCHMARK]\nBenchmark overrides: {'max_concurrency': 8}\nRun Number: 0\nBenchmark command: ['vllm', 'bench', 'serve', '--max-concurrency', '8']\nOutput file: out/run=0.json\nStarting main benchmark run...\n[END BENCHMARK]\n[BEGIN BENCHMARK]\nBenchmark overrides: {'max_concurrency': 16}\nStarting main benchmark run...\n",
			`command argv="vllm serve m --port 8000" starts="server"
echo run="1" max_concurrency="8"
command argv="vllm bench serve --max-concurrency 8" starts="client"
bench step="main" run="1"
bench step="end" run="1" code="0"
echo run="2" max_concurrency="16"
bench step="main" run="2"`},
		{"SGLang offline throughput", "\n====== Offline Throughput Benchmark Result =======\nBackend:                                 engine    \nSuccessful requests:                     10        \nBenchmark duration (s):                  5.25      \nTotal input tokens:                      1024      \nTotal generated tokens:                  512       \nLast generation throughput (tok/s):      97.50     \nRequest throughput (req/s):              1.90      \nInput token throughput (tok/s):          195.05    \nOutput token throughput (tok/s):         97.52     \nTotal token throughput (tok/s):          292.57    \n==================================================\n",
			`bench step="result" run="1" backend="engine" completed=10 duration=5.25 total_input_tokens=1024 total_output_tokens=512 last_gen_throughput=97.5 request_throughput=1.9 input_throughput=195.05 output_throughput=97.52 total_throughput=292.57`},
		{"NCCL", "n1:41:99 [3] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\n[2026-02-27 15:27:13] n1:41:41 [3] transport.cc:200 NCCL WARN Timeout waiting for connection\nn1:41:41 [3] NCCL INFO init.cc:1667 -> 6\n", ""},
	})
}

// FuzzFolder feeds variants of the samples of this file and of the clients'
// exports.
func FuzzFolder(f *testing.F) {
	f.Add(migTable)
	f.Add(migXML)
	f.Add("#Entity   GPUTL\nID\nGPU 0     75\n")
	f.Add("Python: 3.12.3 (main)\nCUDA available: True\n[pip3] torch==2\n")
	f.Add("JobID|State|ExitCode\n113|TIMEOUT|0:0\n")
	f.Add("Metric,avg,p50\nRequest Latency (ms),\"1,1\",2\n\nMetric,Value\nRequest Count,3\n")
	f.Add("Run Info,Request Latency,Request Latency\nID,Successful Sec,\n,Mean,Percentiles\nx,1,\"[1,2]\"\n")
	f.Add(`{"benchmarks":[{"config":{"strategy":{"type_":"x","streams":3}},"metrics":{"request_latency":{"successful":{"mean":1,"percentiles":{"p99":2}}}}}]}`)
	f.Add("{\n\"request_latency\": {\"unit\": \"ms\",\n\"avg\": 2, \"p50\": 3},\n\"error_summary\": [{\"error_details\": {\"message\": \"x\"}, \"count\": 2}]\n}\n")
	f.Add("ℹ Run Summary Info\n|====|\n| Benchmark | Timings ||\n| Strategy | Dur | x |\n| | Sec | |\n| a | 1 | 2 |\n")
	f.Add("NVIDIA AIPerf | LLM Metrics\n┏━━┓\n┃ Metric ┃ avg ┃\n│ Request │ 1 │\n│ Count │ │\n└──┘\n")
	f.Add("[BEGIN BENCHMARK]\nBenchmark command: ['a', 'b\nServer command: [1, {2: (3,)}]\n[END BENCHMARK]\n")
	f.Fuzz(func(t *testing.T, text string) { checkText(t, strings.ToValidUTF8(text, "?")) })
}
