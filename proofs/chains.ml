(* Chains of a scenario: whether what a certificate says of them follows from bounds on their jobs. *)
open Rules
open Reading
open Programs
open Yojson.Safe.Util

let product a b = if b > 0 && a > (1 lsl 60) / b then unknown "a sum is beyond 2^60" else a * b

(* The pauses of a host that does nothing else, and waits for nobody; [None]: it does something else. *)
let pauses_of json =
  let rec pauses json =
    match to_assoc json with
    | [ (("sleep" | "work"), text) ] -> Some [ time (to_string text) ]
    | _ when member "repeat" json <> `Null && List.for_all (fun (key, _) -> key = "repeat" || key = "steps") (to_assoc json) ->
        let times = int_at "repeat" json in
        let body = all (items "steps" json) in
        let repeated body =
          if times > most_launches || times * (1 + List.length body) > most_launches then
            unknown "a host has more than %d steps" most_launches;
          List.concat (List.init times (fun _ -> body))
        in
        Option.map repeated body
    | _ -> None
  and all steps =
    let add sum step = match (sum, pauses step) with Some l, Some m -> Some (List.rev_append m l) | _ -> None in
    List.fold_left add (Some []) steps
  in
  let others = [ "core"; "cpu_priority"; "spin"; "time_limit"; "barrier" ] in
  if List.exists (fun key -> member key json <> `Null) others then None else all (items "steps" json)

(* An entry of a path: its thread, whether that is a host, and which of its operations read and write. *)
let entry_of scenario json =
  let name, reads, writes =
    match json with
    | `String name -> (name, `Null, `Null)
    | json ->
        only "an entry of a path" [ "job"; "reads"; "writes" ] json;
        (to_string (member "job" json), member "reads" json, member "writes" json)
  in
  let among key = List.filter (fun json -> name_of json = name) (items key scenario) in
  let has_operations json = items "operations" json <> [] in
  match (List.filter has_operations (among "streams"), among "hosts") with
  | [ thread ], [] -> (name, thread, false, reads, writes)
  | [], [ thread ] -> (name, thread, true, reads, writes)
  | _ -> unknown "%s is not one stream with operations or host" name

(* Where the operations that are meant stand among what a thread submits, each with its stream. *)
let places thread is_host meant =
  let key, steps = if is_host then ("launch", items "steps" thread) else ("kernel", items "operations" thread) in
  if List.exists (fun step -> member "repeat" step <> `Null) steps then []
  else
    let is_meant step =
      match to_assoc meant with
      | [ ("kernel", name) ] -> member key step = name
      | [ ("copy", direction) ] -> member "copy" step = direction
      | _ -> unknown "what reads or writes is neither a kernel nor a copy"
    in
    let numbered = List.mapi (fun at step -> (at, step)) steps in
    List.filter_map (fun (at, step) -> if is_meant step then Some (at, member "stream" step) else None) numbered

(* Whether what reads comes behind what has written in one stream, so that a job goes on itself. *)
let goes_on_as (before, thread, is_host, _, writes) (name, _, _, reads, _) =
  before = name && writes <> `Null && reads <> `Null
  &&
  match (List.rev (places thread is_host writes), places thread is_host reads) with
  | ((last, stream) :: _ as written), ((first, _) :: _ as read) ->
      last < first && List.for_all (fun (_, other) -> other = stream) (written @ read)
  | _ -> false

(* A bound on a chain, which the certificate says follows from those on its links; [need] is told each of these, and of
   which threads. *)
let chain_of scenario need json =
  let name = to_string (member "chain" json) and bound = int_at "bound_ns" json and limit = int_at "limit_ns" json in
  let is_age, key =
    match to_string (member "measure" json) with
    | "reaction time" -> (false, "reaction_time")
    | "data age" -> (true, "data_age")
    | measure -> refuse "nothing is called %s of a chain" measure
  in
  let stated =
    match List.filter (fun json -> name_of json = name) (items "chains" scenario) with
    | [ stated ] -> stated
    | _ -> refuse "there is not one chain %s" name
  in
  only "a chain" [ "name"; "path"; "reaction_time"; "data_age" ] stated;
  if optional_time key stated <> Some limit then refuse "the limit of %s is not %d ns" name limit;
  if bound > limit then refuse "%d ns are beyond the limit of %s" bound name;
  let path = List.map (entry_of scenario) (items "path" stated) and links = to_list (member "links" json) in
  if List.length path <> List.length links then refuse "%s has not %d links" name (List.length links);
  let before = ref None in
  let link ((label, thread, is_host, _, _) as entry) json =
    if to_string (member "stream" json) <> label then refuse "%s is left out" label;
    let link_period = int_at "period_ns" json and link_bound = int_at "bound_ns" json in
    if optional_time "period" thread <> Some link_period then refuse "the period of %s is not %d ns" label link_period;
    let link_first = Option.value ~default:0 (optional_time "release" thread) in
    if link_first >= link_period then unknown "%s is first released after its period" label;
    (* Its jobs go on for ever, or as long as a run does. *)
    (match (member (if is_host then "iterations" else "jobs") thread, optional_time "horizon" scenario) with
    | `Null, _ -> ()
    | `Int n, Some horizon when n > 0 && horizon < link_first + product (natural "jobs" (n - 1)) link_period -> ()
    | _ -> unknown "jobs of %s end" label);
    need (label, thread, is_host, link_bound);
    let goes_on = match !before with Some before -> goes_on_as before entry | None -> false in
    before := Some entry;
    { link_first; link_period; link_bound; goes_on }
  in
  let all = List.map2 link path links in
  let add sum l = natural "a sum" (sum + l.link_period + l.link_bound) in
  let longest = List.fold_left add bound all in
  match all with
  | [] -> refuse "%s has no links" name
  | first :: rest ->
      let follows =
        match member "jobs" json with
        | `Null -> accept_chain (any_phase first) (List.map any_phase rest) is_age bound
        | _ ->
            let jobs = int_at "jobs" json in
            if jobs > most_launches then unknown "%s has more than %d jobs in a hyperperiod" name most_launches;
            ignore (natural "a sum" (longest + product (jobs + 2) first.link_period));
            accept_chain_in_phase jobs first rest is_age bound
      in
      if not follows then refuse "%d ns do not follow for %s" bound name

(* Whether a host that only sleeps and works has done so by then, however late its jobs are if that leaves time for it. *)
let pauses_in_time (_, thread, is_host, bound) =
  is_host
  &&
  match pauses_of thread with
  | None -> false
  | Some pauses ->
      let late = Option.value ~default:0 (optional_time "jitter" thread) in
      let all = List.fold_left (fun sum pause -> natural "a sum" (sum + pause)) 0 pauses in
      let late = natural "a sum" (max late (bound - all)) in
      accept_pauses (Option.value ~default:0 (optional_time "period" thread)) late pauses bound

(* How many bounds on chains follow, and what has to be known of which streams and hosts that launch for that. *)
let chains_of scenario claims =
  let needed = ref [] in
  let need ((name, _, _, bound) as job) =
    if not (pauses_in_time job) && not (List.mem (name, bound) !needed) then needed := (name, bound) :: !needed
  in
  List.iter (chain_of scenario need) claims;
  (List.length claims, needed)

(* How many verdicts follow on hosts that only sleep and work, whenever their jobs come. *)
let pauses_of_hosts scenario deadline_of claims =
  let claim json =
    let name = to_string (member "stream" json) in
    let deadline = int_at "deadline_ns" json and bound = int_at "bound_ns" json in
    match List.filter (fun host -> name_of host = name) (items "hosts" scenario) with
    | [ host ] ->
        if deadline_of host <> Some deadline then refuse "the deadline of %s is not %d ns" name deadline;
        if bound > deadline then refuse "%d ns are beyond the deadline of %s" bound name;
        if not (pauses_in_time (name, host, true, bound)) then refuse "%d ns do not follow for %s" bound name
    | _ -> refuse "there is not one host %s" name
  in
  List.iter claim claims;
  List.length claims
