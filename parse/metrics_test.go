package parse

import "testing"

// TestMetricsGolden reads scrapes of Prometheus metrics and DCGM's reports.
func TestMetricsGolden(t *testing.T) { goldenDir(t, "metrics") }

func TestMetricLines(t *testing.T) {
	runEventCases(t, []eventCase{
		{"one value", `DCGM_FI_DEV_GPU_TEMP{gpu="0",modelName="NVIDIA \"x\" {1}"} 71` + "\n", `gpu index="0" name="NVIDIA \\" gpu_temperature=71`},
		{"no labels", "tgi_queue_size 12\ntgi_batch_current_size 4\n", `batch source="metrics" queue=12 running=4`},
		{"not a number", "vllm:num_requests_running{engine=\"0\"} NaN\n", ""},
		{"prose", "DCGM_FI_DEV_GPU_TEMP is the temperature\nvllm:num_requests_running 3 of these\nnode_load1 3\n", `batch source="metrics" running=3`},
	})
}

func TestQueueLines(t *testing.T) {
	runEventCases(t, []eventCase{
		{"squeue", "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n            449917       gpu    bench       ml PD       0:00      1 (Resources, Priority)\n            449916       gpu    serve       ml  R      10:02      1 n1\n",
			`state what="slurm" name="449917" job_name="bench" state="PENDING" elapsed="0:00" reason="Resources, Priority"
state what="slurm" name="449916" job_name="serve" state="RUNNING" elapsed="10:02" host="n1"`},
		{"scontrol", "JobId=449917 JobName=vllm-bench\n   UserId=ml(1000) GroupId=ml(1000) MCS_label=N/A\n   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)\n   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:15\n   RunTime=00:10:14 TimeLimit=00:10:00 TimeMin=N/A\n   NodeList=n1\n\n",
			`state what="slurm" name="449917" job_name="vllm-bench" state="TIMEOUT" reason="TimeLimit" exit_code="143" signal="TERM" elapsed="00:10:14" time_limit="00:10:00" host="n1"`},
		{"sacct with empty cells", "JobID           JobName      State ExitCode    Elapsed  Timelimit \n------------ ---------- ---------- -------- ---------- ---------- \n17                bench  PREEMPTED      0:0   00:10:14   00:20:00 \n17.batch          batch  CANCELLED     0:15   00:10:15            \n",
			`state what="slurm" name="17" state="PREEMPTED" elapsed="00:10:14" time_limit="00:20:00" exit_code="0"
state what="slurm" name="17.batch" state="CANCELLED" elapsed="00:10:15" exit_code="143" signal="TERM"`},
		{"events", "LAST SEEN   TYPE      REASON                    OBJECT             MESSAGE\n2m10s       Warning   TerminatingOnInterruption nodeclaim/gpu-x8k2 Interruption triggered termination\n5s          Normal    Killing                   pod/vllm-0         Stopping container server\n",
			`state what="event" name="nodeclaim/gpu-x8k2" state="Warning" reason="TerminatingOnInterruption" message="Interruption triggered termination"
state what="event" name="pod/vllm-0" state="Normal" reason="Killing" message="Stopping container server"`},
		{"events of all namespaces", "NAMESPACE   LAST SEEN   TYPE      REASON      OBJECT        MESSAGE\nbench       3m          Warning   OOMKilling  node/n1       Memory cgroup out of memory: Killed process 4242 (python3)\n",
			`state what="event" name="node/n1" state="Warning" namespace="bench" reason="OOMKilling" message="Memory cgroup out of memory: Killed process 4242 (python3)"`},
		{"describe", "Events:\n  Type     Reason     Age                 From     Message\n  ----     ------     ----                ----     -------\n  Warning  Unhealthy  11s (x15 over 2m)   kubelet  Liveness probe failed: Get \"http://x\": EOF\n",
			`state what="event" state="Warning" source="kubelet" reason="Unhealthy" message="Liveness probe failed: Get \"http://x\": EOF"`},
		{"evidence that could not be had", "Error from server (NotFound): pods \"vllm-0\" not found\nError from server (BadRequest): previous terminated container \"vllm\" in pod \"vllm-0\" not found\nunable to retrieve container logs for containerd://61a9\nslurm_load_jobs error: Invalid job id specified\nerror: the model was not found\n",
			`environment collection_error="Error from server (NotFound): pods \"vllm-0\" not found"
environment collection_error="Error from server (BadRequest): previous terminated container \"vllm\" in pod \"vllm-0\" not found"
environment collection_error="unable to retrieve container logs for containerd://61a9"
environment collection_error="slurm_load_jobs error: Invalid job id specified"`},
		{"stern's heads", "+ vllm-0 › server\n", ""},
	})
}

func FuzzMetrics(f *testing.F) {
	seedDir(f, "metrics")
	f.Add("# TYPE a gauge\na{b=\"c\\\"}\",d=\"\"} 1 2\n# 2026-01-01T00:00:00Z\nDCGM_FI_DEV_FB_FREE{} 1\n# EOF\n")
	f.Add("| Diagnostic                | Result |\n| a | Fail - GPU: |\n|| x |\n| Overall Health: Warning |\n| -> 0 | Warning |\n#Entity  A B\nID\n  GPU 0  1 2\n")
	f.Add("JobId=1 JobName=x\n   JobState=FAILED\n JOBID ST\n 1 PD\nLAST SEEN   TYPE  REASON\n1  x   y\nJobID|State|\n1|x|\n")
	f.Fuzz(checkText)
}
