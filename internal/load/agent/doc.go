// Package agent lets several machines share a load. An agent, godwit agent, waits on each of them to be told what to do; the
// coordinator, which is a load generator called with --agents, tells all of them the same command line and each its part of
// it, starts them together, shows what they do and adds up what they measured, exactly (result.Combine).
//
//	agent.go   Serve: the agent, one job at a time
//	main.go    the command line of godwit agent, tokens, lists of agents
//	run.go     Run: the coordinator
//	gather.go  snapshots of all agents into one a second
//	peer.go    one connection: TLS, the proofs that both know the token, frames, beats
//	words.go   the frames and what is in them
//
// # What goes over the wire
//
// A connection is TLS 1.3 with a certificate that the agent makes up when it starts. The certificate proves nothing and is
// not checked. What proves who is there is the token, a secret that agents and coordinators share: each side sends a random
// challenge, and answers the other's with an HMAC-SHA256, keyed with the token, over both challenges, its own role and a
// secret of the TLS connection (RFC 9266, tls-exporter). So the token never leaves a machine, an answer fits no other
// connection and no other role, and somebody between the two, whose connections to either have different secrets, is found
// out. Before the proof a peer gets at most a few hundred bytes read and ten seconds.
//
// Then there are frames: length (4 bytes, big endian, of what follows), kind (1 byte), content: JSON, or the encoding of
// package result.
//
//	coordinator                        agent
//	hello: version, challenge     ->
//	                              <-   hello: version, challenge
//	proof                         ->
//	                              <-   proof
//	job: face, arguments, part    ->
//	                              <-   failure; or, when it has planned and all connections are open,
//	                              <-   ready: rows, clients
//	start, to all at once         ->
//	                              <-   started: its time
//	                              <-   snapshot, each second
//	stop, if interrupted          ->
//	                              <-   chunks of the result, end; or failure
//
// Both sides send a beat each second from the job on. A side that hears nothing for a while gives the connection up: the
// agent then ends its load, the coordinator the run.
//
// # What may go wrong
//
// A run is the run of all parts or it is an error. An agent that cannot be reached, knows another token, is of another
// release, is busy, cannot plan or connect, or is lost on the way ends the run for all, and the error names it. When the
// coordinator is interrupted the agents finish as they would alone, and what they measured is added up and marked as
// interrupted.
//
// # Whose files
//
// An agent plans and runs, and writes nothing: outputs that the arguments ask for are the coordinator's, Planners ignore
// them. Files that a load reads (certificates, imports) are read by each agent on its own machine, under the name in the
// arguments. Whoever has the token can make an agent read such files and send load anywhere: treat it like a password.
//
// # Whose clock
//
// Each agent starts when the word reaches it, and counts its seconds from then. The coordinator takes half of the time from
// its word to the agent's answer for the way there, and moves all times of the agent's result onto its own clock, so that
// clocks that differ do no harm. By how much the starts differ, and how sure that is, is in the result's Machines.
package agent
