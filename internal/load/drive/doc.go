// Package drive runs a load: it opens the connections of a Plan, keeps each supplied with requests as its Source, pipeline
// and rate say, reads the answers and measures. It is a Handler of netloop, whose loops serve clients as they serve the
// server's connections: a session of theirs is fed answers and appends requests.
//
//	drive.go     Run: connect, start together, wait for the end
//	worker.go    what belongs to one loop: clock, timers, clients, the Recorder's side of it
//	client.go    one connection: its life, greeting, end
//	answer.go    answers read and counted
//	request.go   requests sent, as far as pipeline, bursts and schedule say
//	schedule.go  planned times
//	blind.go     connections whose answers nobody looks at
//	dial.go      connections opened
//	record.go    counting and histograms of the present second
//	collect.go   seconds of all loops merged into a result.Run, progress
//
// A request has three times: when it was planned (only with a rate), when it was handed to the loop for sending, and when
// its answer was read. Service latency is from the second to the third, planned latency from the first to the third. A loop
// reads the clock once per Feed, for all answers that it brings and all requests that it sends.
package drive
