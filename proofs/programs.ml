(* What each thread of a scenario does when: streams with operations of their own, and hosts that sleep, launch and
   wait. *)
open Rules
open Reading
open Yojson.Safe.Util

let most_launches = 200_000

type step = Launches of int * string * work | Sleeps of int | Works of int | Waits of wait

(* A thread by its place among them: the calls of all its jobs, and of each job its release, its first call and the one
   after its last. *)
type thread = {
  label : string;
  json : Yojson.Safe.t;
  place : int;
  calls : call list;
  jobs : (int * int * int) list;
  launched : (int * step) list;
}

type launch = { item : item; name : string; operation : string; thread : int }

(* The number of a stream that is declared, or of the NULL stream. *)
let number_of listed name =
  let rec find q = function
    | [] -> unknown "there is no stream %s" name
    | s :: rest -> if name_of s = name then q else find (q + 1) rest
  in
  if name = "NULL" then 0 else find 1 listed

(* When job [job] of a thread is released; [None] if there is none. How many there are stands under [key]. *)
let release_of key horizon json job =
  let first = Option.value ~default:0 (optional_time "release" json) in
  let jobs = match member key json with `Null -> max_int | _ -> int_at key json in
  (match optional_time "jitter" json with None | Some 0 -> () | _ -> unknown "%s has a jitter" (name_of json));
  match optional_time "period" json with
  | None -> if job = 0 && first <= horizon && jobs > 0 then Some first else None
  | Some period ->
      if period = 0 || (jobs = max_int && horizon = max_int) then unknown "jobs of %s do not end" (name_of json);
      let is_there = job < jobs && first <= horizon && job <= (horizon - first) / period in
      if is_there then Some (first + (job * period)) else None

(* Whether it is a host that only sleeps, works and meets others at barriers. *)
let rec is_bystander steps =
  let is_harmless json =
    match to_assoc json with
    | [ (("sleep" | "work" | "barrier"), _) ] -> true
    | [ ("repeat", _); ("steps", _) ] -> is_bystander (items "steps" json)
    | _ -> false
  in
  List.for_all is_harmless steps

(* The hosts that do something on the GPU, or just sleep, with their steps. *)
let hosts_with_steps device gpu listed kernels scenario =
  let reserved = List.filter (fun s -> List.mem (name_of s) [ "device"; "last"; "NULL" ]) listed in
  (* All streams of a process; without processes also the NULL stream. *)
  let streams_of process =
    let own = List.mapi (fun at stream -> if member "process" stream = process then [ at + 1 ] else []) listed in
    (if process = `Null then [ 0 ] else []) @ List.concat own
  in
  let rec steps_of process json =
    let at keys = only "a step" keys json in
    let stream () = number_of listed (to_string (member "stream" json)) in
    let launches key =
      let name, work = submitted device gpu kernels key json in
      [ Launches (stream (), name, work) ]
    in
    match List.map fst (to_assoc json) with
    | keys when List.mem "launch" keys -> at [ "launch"; "stream" ]; launches "launch"
    | keys when List.mem "copy" keys -> at [ "copy"; "stream"; "bytes"; "duration" ]; launches "launch"
    | keys when List.mem "memset" keys -> at [ "memset"; "stream" ]; launches "launch"
    | keys when List.mem "record" keys -> at [ "record"; "stream" ]; launches "launch"
    | keys when List.mem "sleep" keys -> at [ "sleep" ]; [ Sleeps (time (to_string (member "sleep" json))) ]
    | keys when List.mem "work" keys -> at [ "work" ]; [ Works (time (to_string (member "work" json))) ]
    | keys when List.mem "synchronize" keys -> (
        at [ "synchronize" ];
        match to_string (member "synchronize" json) with
        | "last" -> [ Waits Last ]
        | "device" -> [ Waits (In_streams (streams_of process)) ]
        | name -> [ Waits (In_streams [ number_of listed name ]) ])
    | keys when List.mem "repeat" keys ->
        at [ "repeat"; "steps" ];
        let body = List.concat_map (steps_of process) (items "steps" json) and times = int_at "repeat" json in
        if times > most_launches || times * (1 + List.length body) > most_launches then
          unknown "a host has more than %d steps" most_launches;
        List.concat (List.init times (fun _ -> body))
    | key :: _ -> unknown "a host has the step %S" key
    | [] -> unknown "a host has an empty step"
  in
  let host json =
    let steps = items "steps" json in
    let keys = [ "name"; "release"; "period"; "jitter"; "iterations"; "deadline"; "steps" ] @ of_process scenario in
    let others = [ "core"; "cpu_priority"; "spin"; "time_limit"; "barrier" ] in
    if is_bystander steps && List.exists (fun key -> member key json <> `Null) others
       || is_bystander steps && (has_key "work" json || has_key "barrier" json)
    then begin
      only "a host" (keys @ others) json;
      None
    end
    else begin
      only "a host" keys json;
      if reserved <> [] then unknown "a stream is called %s" (name_of (List.hd reserved));
      if member "period" json = `Null && member "iterations" json <> `Null && int_at "iterations" json <> 1 then
        unknown "%s goes on without a period" (name_of json);
      Some (json, List.concat_map (steps_of (member "process" json)) steps)
    end
  in
  List.filter_map host (items "hosts" scenario)

let launches_something (_, steps) = List.exists (function Launches _ -> true | _ -> false) steps

(* What a thread does in each job, with its longest pauses. *)
let body_of steps =
  let call = function
    | Launches (q, _, work) -> Submit (q, work, None)
    | Sleeps time | Works time -> Pause time
    | Waits what -> Await what
  in
  List.map call steps

(* Streams and hosts alike, and under which key it stands how many jobs they have. *)
let of_stream (json, q, operations) =
  ("jobs", json, List.map (fun (name, work) -> Launches (q, name, work)) operations)
let of_host (json, steps) = ("iterations", json, steps)

(* Streams and hosts with their calls. *)
let threads_of horizon streams hosts =
  let count = ref 0 in
  let thread place (key, json, steps) =
    let calls = ref [] and number = ref 0 and launched = ref [] in
    let call c = calls := c :: !calls; incr number in
    let does (now, has_waited) step =
      match step with
      | Launches (q, _, work) ->
          if has_waited then unknown "%s launches after a wait" (name_of json);
          launched := (now, step) :: !launched;
          call (Submit (q, work, None));
          (now, has_waited)
      | Works _ -> unknown "%s works" (name_of json)
      | Sleeps time -> call (Pause time); (natural "a sum" (now + time), has_waited)
      | Waits what -> call (Await what); (now, true)
    in
    let rec from job =
      match release_of key horizon json job with
      | Some at when steps <> [] ->
          count := !count + 1 + List.length steps;
          if !count > 2 * most_launches then unknown "there are more than %d launches" most_launches;
          let first = !number in
          call (Timer at);
          ignore (List.fold_left does (at, false) steps);
          let own = (at, first, !number) in
          own :: from (job + 1)
      | _ -> []
    in
    let jobs = from 0 in
    { label = name_of json; json; place; calls = List.rev !calls; jobs; launched = List.rev !launched }
  in
  List.mapi thread (List.map of_stream streams @ List.map of_host hosts)

(* All that is launched, in the order of its launches. *)
let launches_of threads =
  let of_thread { label; place; launched; _ } =
    let launch = function
      | item_at, Launches (item_stream, operation, item_work) ->
          { item = { item_stream; item_at; item_work }; name = label; operation; thread = place }
      | _ -> assert false
    in
    List.rev (List.rev_map launch launched)
  in
  List.stable_sort (fun a b -> compare a.item.item_at b.item.item_at) (List.concat_map of_thread threads)
