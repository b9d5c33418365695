(* gpusched-check DEVICE SCENARIO CERTIFICATE: what is launched is read from the scenario, and the terms of the certificate
   are compared with that; whether its bounds follow says the proven checker in rules.ml. *)
open Rules
open Reading
open Programs
open Chains
open Yojson.Safe.Util

(* Sums of terms stay below this too, so that none leaves 63 bits. *)
let most = 1 lsl 60

(* The number of each stream with what it launches at each release, in the order of the file. *)
let streams_of device gpu listed kernels scenario =
  let operation json =
    if member "wait" json <> `Null then unknown "a stream waits for an event";
    submitted device gpu kernels "kernel" json
  in
  let launches json = match member "operations" json with `List l -> List.map operation l | _ -> [] in
  List.map (fun json -> (json, number_of listed (name_of json), launches json)) (items "streams" scenario)

let deadline_of json =
  match member "deadline" json with
  | `Null -> optional_time "period" json
  | `String "none" -> None
  | json -> Some (time (to_string json))

let place_of threads name =
  let rec place n = function (s, _, _) :: _ when name_of s = name -> n | _ :: rest -> place (n + 1) rest | [] -> n in
  place 0 threads

let find streams name =
  match List.find_opt (fun (json, _, _) -> name_of json = name) streams with
  | Some stream -> stream
  | None -> refuse "there is no stream %s" name

(* What all launches add up to, however much that is. *)
let refuse_overflow works =
  let worst = function Kernel (_, _, l) | Copy (_, l) -> l.worst | _ -> 0 in
  let longest = List.fold_left (fun m work -> max m (worst work)) 0 works in
  let add sum work =
    let blocks = match work with Kernel (n, _, _) -> n + 1 | _ -> 1 in
    if longest > 0 && blocks > (most - sum) / longest then unknown "all work together takes more than 2^60 ns";
    sum + (blocks * longest)
  in
  ignore (List.fold_left add 0 works)

(* A verdict on a job, of which [until] says by when all is over. *)
let prove find horizon until json =
  let name = to_string (member "stream" json) and job = int_at "job" json in
  let stream, job_stream, _ = find name in
  let released = int_at "released_ns" json and deadline = int_at "deadline_ns" json in
  let bound = int_at "bound_ns" json in
  if release_of "jobs" horizon stream job <> Some released then
    refuse "job %d of %s is not released at %d ns" job name released;
  if deadline_of stream <> Some deadline then refuse "the deadline of %s is not %d ns" name deadline;
  if bound > deadline then refuse "%d ns are beyond the deadline of job %d of %s" bound job name;
  if until (released + bound) > horizon then refuse "after the horizon nothing is known of job %d of %s" job name;
  { job_stream; job_at = released; job_due = released + bound }

(* An interval of the certificate; [left] are launches that have not been in one. *)
let interval_of find horizon left json =
  let sum = ref 0 in
  let term json =
    let name = to_string (member "stream" json) and operation = to_string (member "operation" json) in
    let at = int_at "launched_ns" json and up_to = int_at "up_to_ns" json in
    sum := natural "a sum" (!sum + up_to);
    match !left with
    | l :: rest when l.name = name && l.operation = operation && l.item.item_at = at ->
        left := rest;
        (l.item, up_to)
    | _ -> refuse "%s of %s is not what is launched next, at %d ns" operation name at
  in
  let until = int_at "until_ns" json in
  { from = int_at "from_ns" json; until; terms = List.map term (to_list (member "terms" json));
    proves = List.map (prove find horizon (fun _ -> until)) (to_list (member "proves" json)) }

(* Verdicts on all that is launched when the scenario says so. *)
let parts_of gpu streams horizon launches parts =
  let items = List.map (fun l -> l.item) launches in
  refuse_overflow (List.map (fun i -> i.item_work) items);
  let part json =
    let levels = int_at "levels" json in
    if levels > gpu.levels then refuse "there are no %d levels" levels;
    let left = ref (List.filter (fun l -> level_of gpu levels l.item.item_stream < levels) launches) in
    let intervals = List.map (interval_of (find streams) horizon left) (to_list (member "intervals" json)) in
    (match !left with
    | [] -> ()
    | l :: _ -> refuse "%s of %s at %d ns is left out" l.operation l.name l.item.item_at);
    if not (accept gpu levels items intervals) then
      refuse "what is said of the highest %d priorities does not follow from what is launched" levels;
    (List.fold_left (fun n i -> n + List.length i.proves) 0 intervals, Serial (levels, intervals))
  in
  List.map part parts

(* How much a block of each kernel weighs. *)
let weights_of gpu kernels scale json =
  if scale > 1 lsl 20 then refuse "a scale is beyond 2^20";
  let weight json =
    let name = to_string (member "kernel" json) and weight = int_at "weight" json in
    if weight > 1 lsl 20 then refuse "a weight is beyond 2^20";
    match List.find_opt (fun (n, _, _) -> n = name) kernels with
    | Some (_, Kernel (_, need, _), _) -> (need, weight)
    | _ -> refuse "there is no kernel %s" name
  in
  let weights = List.map weight (to_list (member "weights" json)) in
  let small r = List.for_all (fun n -> n < 1 lsl 32) [ r.threads; r.slots; r.shared; r.registers ] in
  if not (List.for_all small gpu.sms && List.for_all (fun (need, _) -> small need) weights) then
    unknown "an SM or a block has more than 2^32 of something";
  weights

(* The work of all blocks of an operation, or more. *)
let heaviest gpu scale weights stream what =
  let time = match what with Kernel (_, _, l) | Copy (_, l) -> l.worst | _ -> 0 in
  let blocks = match what with Kernel (n, _, _) -> n | _ -> 1 in
  let o = { number = 0; stream; launched_at = 0; what } in
  product (product blocks time) (max (Rules.weight gpu scale weights o) 1)

(* Verdicts where kernels share the GPU: how much a block of each kernel weighs, and when there may be work. *)
let shared_of gpu listed kernels streams horizon launches parts =
  let items = List.map (fun l -> l.item) launches in
  let longest = List.fold_left (fun m i -> match i.item_work with Kernel (_, _, l) -> max m l.worst | _ -> m) 0 items in
  let part json =
    let levels = int_at "levels" json and scale = int_at "scale" json in
    if levels > gpu.levels then refuse "there are no %d levels" levels;
    let weights = weights_of gpu kernels scale json in
    let all = scale * List.length gpu.sms in
    let work sum item = natural "a sum" (sum + heaviest gpu scale weights item.item_stream item.item_work) in
    let span json =
      let begins = int_at "from_ns" json and over_at_last = int_at "until_ns" json in
      let some = List.filter (fun i -> begins <= i.item_at && i.item_at <= over_at_last) items in
      ignore (List.fold_left work 0 some);
      let times sum i =
        let own = match i.item_work with Kernel (_, _, l) -> longest + l.worst | Copy (_, l) -> l.worst | _ -> 0 in
        natural "a sum" (sum + own)
      in
      ignore (product (List.fold_left times over_at_last some) all);
      let over json =
        let by = int_at "by_ns" json in
        if by > over_at_last then refuse "%d ns are after the interval" by;
        { job_stream = number_of listed (to_string (member "stream" json)); job_at = by; job_due = by }
      in
      { begins; over_at_last;
        shows =
          List.map (prove (find streams) horizon (min over_at_last)) (to_list (member "proves" json))
          @ List.map over (Reading.items "over" json) }
    in
    let spans = List.map span (to_list (member "intervals" json)) in
    if not (accept_shared gpu levels items scale weights spans) then
      refuse "what is said of the highest %d priorities that share the GPU does not follow" levels;
    let proven n json = n + List.length (to_list (member "proves" json)) in
    (List.fold_left proven 0 (to_list (member "intervals" json)), Weighed (levels, scale, weights, spans))
  in
  List.map part parts

(* Verdicts on hosts, and that all of them launch just when these say. How many verdicts. *)
let hosts_of gpu horizon threads launches evidence claims =
  let claim json =
    let name = to_string (member "stream" json) and job = int_at "job" json in
    let released = int_at "released_ns" json and deadline = int_at "deadline_ns" json in
    let bound = int_at "bound_ns" json in
    let thread =
      match List.find_opt (fun thread -> thread.label = name) threads with
      | Some thread -> thread
      | None -> refuse "there is no host %s" name
    in
    if deadline_of thread.json <> Some deadline then refuse "the deadline of %s is not %d ns" name deadline;
    if bound > deadline then refuse "%d ns are beyond the deadline of job %d of %s" bound job name;
    if released + bound > horizon then refuse "after the horizon nothing is known of job %d of %s" job name;
    match List.nth_opt thread.jobs job with
    | Some (at, first_call, next_call) when at = released ->
        { of_host = thread.place; first_call; next_call; over_at = released + bound }
    | _ -> refuse "job %d of %s is not released at %d ns" job name released
  in
  let tagged = List.map (fun l -> (l.thread, l.item)) launches in
  let is_unused q = not (List.exists (fun l -> l.item.item_stream = q) launches) in
  let unused = List.filter is_unused (List.init (List.length gpu.streams) Fun.id) in
  let jobs = List.map claim claims in
  if not (accept_hosts gpu tagged evidence unused (List.map (fun thread -> thread.calls) threads) jobs) then
    refuse "hosts may launch at other times, or their jobs take longer";
  List.length jobs

(* Over all phasings: of each stream of the highest priorities, its jobs with a jitter that may be longer than the
   scenario's, and what [read] reads of its term. *)
let tasks_of gpu streams levels read json =
  if levels > gpu.levels then refuse "there are no %d levels" levels;
  let terms = ref (to_list (member "terms" json)) in
  let task (stream, task_stream, operations) =
    let name = name_of stream and works = List.map snd operations in
    match !terms with
    | term :: rest when level_of gpu levels task_stream < levels ->
        terms := rest;
        let term_period = int_at "period_ns" term and jitter = int_at "jitter_ns" term in
        if to_string (member "stream" term) <> name then refuse "%s is left out" name;
        if optional_time "period" stream <> Some term_period then
          refuse "the period of %s is not %d ns" name term_period;
        if jitter < Option.value ~default:0 (optional_time "jitter" stream) then
          refuse "the jitter of %s is more than %d ns" name jitter;
        let task = { task_stream; period = term_period; jitter; works } in
        (task, Some (read task term))
    | _ -> ({ task_stream; period = 0; jitter = 0; works }, None)
  in
  let tasks = List.map task streams in
  (match !terms with [] -> () | term :: _ -> refuse "%s is not of them" (to_string (member "stream" term)));
  refuse_overflow (List.concat_map (fun (task, _) -> task.works) tasks);
  (List.map fst tasks, List.filter_map snd tasks)

(* By when jobs of a stream are over, whenever they arrive. *)
let claims_of streams json =
  let claim json =
    let name = to_string (member "stream" json) in
    let deadline = int_at "deadline_ns" json and bound = int_at "bound_ns" json in
    let stream, _, _ = find streams name in
    if deadline_of stream <> Some deadline then refuse "the deadline of %s is not %d ns" name deadline;
    if bound > deadline then refuse "%d ns are beyond the deadline of %s" bound name;
    (place_of streams name, bound)
  in
  List.map claim (to_list (member "proves" json))

(* Of what has to be known for chains, what a part says that has these jobs over by then; it is known from now on, if
   the part is accepted. *)
let taken_from needed threads over_by =
  let is_shown (name, bound) =
    let place = place_of threads name in
    place < List.length threads && match over_by place with Some by -> by <= bound | None -> false
  in
  let shown, left = List.partition is_shown !needed in
  needed := left;
  List.map (fun (name, bound) -> (place_of threads name, bound)) shown

(* Verdicts on all phasings: how many jobs of each stream come in a window and how much each adds. How many there are,
   and the windows. *)
let windows_of gpu streams needed windows =
  let window json =
    let levels = int_at "levels" json and sum = ref 0 in
    let share _ term =
      let share = { jobs = int_at "jobs" term; of_job = int_at "of_job_ns" term } in
      sum := natural "a sum" (!sum + product share.jobs share.of_job);
      share
    in
    let tasks, shares = tasks_of gpu streams levels share json in
    let claims = claims_of streams json in
    let window_length = int_at "length_ns" json in
    let over_by place =
      let task = List.nth tasks place in
      if level_of gpu levels task.task_stream < levels then Some (task.jitter + window_length) else None
    in
    let also = taken_from needed streams over_by in
    if not (accept_window gpu levels tasks window_length shares (claims @ also)) then
      refuse "what is said of the highest %d priorities does not follow from what is launched" levels;
    (List.length claims, { window_top = levels; window_length; window_shares = shares })
  in
  let counts, windows = List.split (List.map window windows) in
  (List.fold_left ( + ) 0 counts, windows)

(* The same where kernels share the GPU: how much a block of each weighs, and a bound on each stream's responses; what
   windows say, and what is said of fewer priorities, is known to what follows. *)
let responses_of gpu kernels streams needed windows responses =
  let part json =
    let levels = int_at "levels" json and scale = int_at "scale" json in
    let weights = weights_of gpu kernels scale json in
    let response task term = (task, int_at "response_ns" term) in
    let tasks, terms = tasks_of gpu streams levels response json in
    let worst = function Kernel (_, _, l) | Copy (_, l) -> l.worst | _ -> 0 in
    let longest = List.fold_left (fun m task -> List.fold_left (fun m work -> max m (worst work)) m task.works) 0 tasks in
    let all = scale * List.length gpu.sms in
    let work sum task =
      List.fold_left (fun sum work -> natural "a sum" (sum + heaviest gpu scale weights task.task_stream work)) sum task.works
    in
    let check (own, response) =
      ignore (product response all);
      let turns = List.fold_left (fun sum work -> natural "a sum" (sum + longest + worst work)) 0 own.works in
      let add sum (task, other) =
        if task.period = 0 then refuse "a period is 0";
        let jobs = (natural "a sum" (response + other + task.jitter) / task.period) + 1 in
        natural "a sum" (sum + product jobs (work 0 task))
      in
      if own.period = 0 then refuse "a period is 0";
      let own_jobs = (natural "a sum" (response + own.jitter) / own.period) + 1 in
      ignore (List.fold_left add (product (product turns all) own_jobs) terms)
    in
    List.iter check terms;
    ignore (List.fold_left work 0 tasks);
    let stage_bounds = List.map (fun (task, response) -> (task.task_stream, response)) terms in
    (tasks, List.map fst terms, claims_of streams json,
     { stage_top = levels; stage_scale = scale; stage_weights = weights; stage_bounds })
  in
  match List.rev_map part responses with
  | [] -> 0
  | (tasks, _, _, _) :: _ as parts ->
      (* All are about the same jobs. *)
      let same a b = a.task_stream = b.task_stream && a.period = b.period && a.jitter = b.jitter in
      let known task = if not (List.exists (same task) tasks) then refuse "parts differ in what comes when" in
      List.iter (fun (_, upper, _, _) -> List.iter known upper) parts;
      let stages = List.rev_map (fun (_, _, _, stage) -> stage) parts in
      let claims = List.concat_map (fun (_, _, claims, _) -> claims) parts in
      let also = taken_from needed streams (fun _ -> Some 0) in
      if not (accept_responses gpu tasks windows stages (claims @ also)) then
        refuse "what is said of priorities that share the GPU does not follow";
      List.length claims

(* The same of hosts: how much a block of each weighs, and a bound on each job, over all phasings. *)
let phased_of gpu kernels threads needed parts =
  let launches (_, _, steps) = List.exists (function Launches _ -> true | _ -> false) steps in
  let threads = List.filter launches threads in
  let named = List.map (fun (key, json, steps) -> (json, key, steps)) threads in
  let part json =
    let levels = int_at "levels" json and scale = int_at "scale" json in
    if levels > gpu.levels then refuse "there are no %d levels" levels;
    let weights = weights_of gpu kernels scale json in
    let all = scale * List.length gpu.sms in
    let is_above = function Submit (q, _, _) -> level_of gpu levels q < levels | _ -> true in
    let terms = ref (to_list (member "terms" json)) in
    let task (_, json, steps) =
      let name = name_of json and host_body = body_of steps in
      let host_period =
        match optional_time "period" json with Some t when t > 0 -> t | _ -> unknown "%s has no period" name
      in
      match !terms with
      | term :: rest when List.for_all is_above host_body ->
          terms := rest;
          if to_string (member "stream" term) <> name then refuse "%s is left out" name;
          if int_at "period_ns" term <> host_period then refuse "the period of %s is not that" name;
          let host_jitter = int_at "jitter_ns" term in
          if host_jitter < Option.value ~default:0 (optional_time "jitter" json) then
            refuse "the jitter of %s is more than %d ns" name host_jitter;
          ({ host_period; host_jitter; host_body }, int_at "response_ns" term)
      | _ -> ({ host_period; host_jitter = 0; host_body }, 0)
    in
    let tasks, responses = List.split (List.map task threads) in
    (match !terms with [] -> () | term :: _ -> refuse "%s is not of them" (to_string (member "stream" term)));
    (* No sum leaves 63 bits: what each job adds at most, times how many come. *)
    let worst = function Kernel (_, _, l) | Copy (_, l) -> l.worst | _ -> 0 in
    let longest =
      let of_call m = function Submit (_, work, _) -> max m (worst work) | _ -> m in
      List.fold_left (fun m task -> List.fold_left of_call m task.host_body) 0 tasks
    in
    let of_call sum = function
      | Submit (q, work, _) ->
          natural "a sum" (sum + heaviest gpu scale weights q work + product all (natural "a sum" (longest + worst work)))
      | Pause time -> natural "a sum" (sum + product all time)
      | _ -> sum
    in
    let most_response = List.fold_left max 0 responses in
    ignore (product all most_response);
    let of_task sum task =
      let jobs = (natural "a sum" ((2 * most_response) + task.host_jitter) / task.host_period) + 1 in
      natural "a sum" (sum + product jobs (List.fold_left of_call 0 task.host_body))
    in
    ignore (List.fold_left of_task 0 tasks);
    let claim json =
      let name = to_string (member "stream" json) in
      let deadline = int_at "deadline_ns" json and bound = int_at "bound_ns" json in
      let place = place_of named name in
      if place = List.length named then refuse "%s launches nothing" name;
      let thread, _, _ = List.nth named place in
      if deadline_of thread <> Some deadline then refuse "the deadline of %s is not %d ns" name deadline;
      if bound > deadline then refuse "%d ns are beyond the deadline of %s" bound name;
      (place, bound)
    in
    let claims = List.map claim (to_list (member "proves" json)) in
    let over_by place =
      let task = List.nth tasks place in
      if List.for_all is_above task.host_body then Some (task.host_jitter + List.nth responses place) else None
    in
    let also = taken_from needed named over_by in
    if not (accept_phased gpu levels tasks scale weights responses (claims @ also)) then
      refuse "what is said of hosts of the highest %d priorities does not follow" levels;
    List.length claims
  in
  List.fold_left (fun n json -> n + part json) 0 parts

(* What a certificate may say, by the lists in which it says it: another key, or one twice, is refused by its name. *)
let rec keys_are_known path json =
  let proves_jobs = [ "stream"; "job"; "released_ns"; "deadline_ns"; "bound_ns" ] in
  let proves_streams = [ "stream"; "deadline_ns"; "bound_ns" ] in
  let known =
    match path with
    | [] ->
        [ "format"; "scenario"; "until_ns"; "parts"; "shared"; "hosts"; "windows"; "responses"; "phased"; "pauses";
          "chains"; "no_certificate" ]
    | [ "pauses" ] -> proves_streams
    | [ "chains" ] -> [ "chain"; "measure"; "limit_ns"; "bound_ns"; "jobs"; "links" ]
    | [ "links"; "chains" ] -> [ "stream"; "period_ns"; "bound_ns" ]
    | [ "hosts" ] -> proves_jobs
    | [ "parts" ] -> [ "levels"; "intervals" ]
    | [ "shared" ] -> [ "levels"; "scale"; "weights"; "intervals" ]
    | [ "windows" ] -> [ "levels"; "length_ns"; "terms"; "proves" ]
    | [ "responses" ] | [ "phased" ] -> [ "levels"; "scale"; "weights"; "terms"; "proves" ]
    | [ "intervals"; "parts" ] -> [ "from_ns"; "until_ns"; "terms"; "proves" ]
    | [ "intervals"; "shared" ] -> [ "from_ns"; "until_ns"; "proves"; "over" ]
    | "over" :: _ -> [ "stream"; "by_ns" ]
    | "terms" :: "intervals" :: _ -> [ "stream"; "operation"; "launched_ns"; "up_to_ns" ]
    | [ "terms"; "windows" ] -> [ "stream"; "period_ns"; "jitter_ns"; "jobs"; "of_job_ns" ]
    | [ "terms"; ("responses" | "phased") ] -> [ "stream"; "period_ns"; "jitter_ns"; "response_ns" ]
    | "weights" :: _ -> [ "kernel"; "weight" ]
    | "proves" :: "intervals" :: _ -> proves_jobs
    | "proves" :: _ -> proves_streams
    | _ -> [ "stream"; "job"; "chain"; "measure"; "reason" ]
  in
  only (String.concat " of " (path @ [ "the certificate" ])) known json;
  let inner (key, json) = match json with `List l -> List.iter (keys_are_known (key :: path)) l | _ -> () in
  List.iter inner (to_assoc json)

(* How many verdicts follow from the rules, and what the certificate says of the others. *)
let check device scenario certificate =
  keys_are_known [] certificate;
  let listed, gpu = gpu_of device scenario in
  if member "name" scenario <> member "scenario" certificate then refuse "the certificate is of another scenario";
  let all_of key json = match member key json with `Null -> [] | json -> to_list json in
  let all key = all_of key certificate in
  (* A scenario that these rules do not know is none of their business if nothing is claimed of it. *)
  let proven =
    if List.for_all (fun key -> all key = []) [ "parts"; "windows"; "shared"; "hosts"; "responses"; "phased"; "pauses"; "chains" ]
    then 0
    else
      let () = check_registers device (allocation_of device) (entries "kernels" scenario) in
      let kernels = List.map (kernel_of (allocation_of device)) (entries "kernels" scenario) in
      let streams = streams_of device gpu listed kernels scenario in
      let launching = List.filter (fun (_, _, operations) -> operations <> []) streams in
      let hosts = hosts_with_steps device gpu listed kernels scenario in
      (* All that is released by then is listed, so whatever it is, nothing is missing before. *)
      let until = match member "until_ns" certificate with `Null -> max_int | _ -> int_at "until_ns" certificate in
      let horizon = Option.value ~default:until (optional_time "horizon" scenario) in
      let is_given = List.exists (fun key -> all key <> []) [ "parts"; "shared"; "hosts" ] in
      let threads = if is_given then threads_of horizon streams hosts else [] in
      let launches = launches_of threads in
      let parts = if all "parts" = [] then [] else parts_of gpu streams horizon launches (all "parts") in
      let shared = shared_of gpu listed kernels streams horizon launches (all "shared") in
      let count = List.fold_left (fun n (proven, _) -> n + proven) 0 (parts @ shared) in
      let of_hosts =
        if not is_given || hosts = [] then 0
        else hosts_of gpu horizon threads launches (List.map snd (parts @ shared)) (all "hosts")
      in
      if hosts = [] && all "hosts" <> [] then refuse "there are no hosts";
      if (all "windows" <> [] || all "responses" <> []) && List.exists launches_something hosts then
        unknown "hosts launch, and releases are not given";
      let of_chains, needed = chains_of scenario (all "chains") in
      let by_windows, windows = windows_of gpu launching needed (all "windows") in
      let threads = List.map of_stream streams @ List.map of_host hosts in
      let phased = phased_of gpu kernels threads needed (all "phased") in
      let by_responses = responses_of gpu kernels launching needed windows (all "responses") in
      List.iter (fun (name, bound) -> refuse "nothing says that jobs of %s are over after %d ns" name bound) !needed;
      let by_pauses = pauses_of_hosts scenario deadline_of (all "pauses") in
      count + of_hosts + by_windows + phased + by_responses + of_chains + by_pauses
  in
  let without = all "no_certificate" in
  (* Each verdict is told of once. *)
  let told = Hashtbl.create 16 in
  let tell json =
    let about = List.map (fun key -> member key json) [ "stream"; "job"; "chain"; "measure" ] in
    if Hashtbl.mem told about then refuse "%s is told of twice" (Yojson.Safe.to_string (`List about));
    Hashtbl.replace told about ()
  in
  let proves json = all_of "proves" json in
  List.iter tell
    (List.concat_map (fun part -> List.concat_map proves (all_of "intervals" part)) (all "parts" @ all "shared")
    @ all "hosts" @ List.concat_map proves (all "windows" @ all "responses" @ all "phased") 
    @ all "pauses" @ all "chains" @ without);
  (proven, without)

(* Says which verdicts have no certificate, and why. *)
let tell_of_others without =
  List.iter
    (fun json ->
      let what =
        match (member "chain" json, member "job" json) with
        | `String chain, _ -> Printf.sprintf "the %s of %s" (to_string (member "measure" json)) chain
        | _, `Null -> "jobs of " ^ to_string (member "stream" json)
        | _ -> Printf.sprintf "job %d of %s" (int_at "job" json) (to_string (member "stream" json))
      in
      Printf.printf "no certificate for %s: %s\n" what (to_string (member "reason" json)))
    without

let accepted (proven, without) =
  Printf.sprintf "accepted: %d verdicts follow from the rules; %d are without a certificate" proven
    (List.length without)
