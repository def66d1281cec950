// Package route makes one client of a load out of several connections, one for each server: memcached servers that clients
// share keys among by hash (Ketama, Modulo), or the nodes of a RESP cluster (Discover, Cluster). It has no sockets of its
// own, but for Discover: load/drive runs its Parts like the Sources of any other clients.
//
//	source ──Next──> Fleet ──Part 0──> connection to server 0
//	                      ──Part 1──> connection to server 1
//	                      ──Part 2──> ...
//
// A connection that may send asks its Part, which takes requests from the client's source until there is one for its
// server. Those for other servers are copied into the queues of their Parts, whose connections are waked. When a queue is
// full nobody takes anything until it is half empty. So nothing is dropped, memory is bounded, and the source is asked for
// exactly as many requests as it has.
//
// Requests for one key are sent in the order in which the source made them, unless they are redirected or replicas serve
// gets. Answers come in order for each server, not across servers: a source that is a load.Feedback hears of them as they
// come. Op.ID tells a load.Checker which request it was.
//
// A request for several keys is made several, one for each server, or for each slot of a cluster, where a node takes no
// command with keys of different slots. Each counts as a request; keys, hits and misses add up to those of the whole, of
// which the source hears once. Commands (Op.Args) with a key name it in Op.Key. What has no key goes where it was taken:
// to any server, in a cluster to any master.
//
// In a cluster, MOVED and ASK are followed: the request is sent again and counts as answered when it is, with the time
// since it was sent, or planned, the first time. MOVED changes the table of slots, which all clients of a load share, and
// has the node that it names be asked for CLUSTER SLOTS; so has the loss of a connection. Connections are made to all nodes
// that there are at the start, replicas too: one that takes over is ready. A node that joins later is an error when a
// request is sent there, and so is a sixth redirection of the same request. TRYAGAIN and CLUSTERDOWN are errors like any
// other. A request that is to be sent again when the time of the run is over is not sent, nor counted as answered. When a
// server that has keys is gone for good the whole client ends, as a client with one connection would.
package route
