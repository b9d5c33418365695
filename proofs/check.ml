(* gpusched-check DEVICE SCENARIO CERTIFICATE: whether a certificate proves its verdicts (certificates.ml).
   gpusched-check DEVICE SCENARIO RUN: whether a run follows the rules.
   gpusched-check CASES: many certificates and runs, one a line.
   It reads what `gpusched devices NAME --format json`, `gpusched convert` and `gpusched simulate --format json --blocks`
   print, orders the rows of the run into steps, and lets the proven program of rules.ml do each. A step that the rules
   forbid ends it, and so does a row that is left over. *)
open Rules
open Reading
open Yojson.Safe.Util

(* How long each copy of the scenario may take: its direction, bytes and time. Steps may repeat others. *)
let rec copies_of device json =
  match member "copy" json with
  | `String direction -> List.map (fun t -> (direction, int_or 0 "bytes" json, t)) (copy_times device json)
  | _ -> (
      match member "steps" json, member "operations" json with
      | `List inner, _ | _, `List inner -> List.concat_map (copies_of device) inner
      | _ -> [])

type row = { sm : int; starts : int; lasts_ns : int option }

let row json =
  let starts = int_at "start_ns" json in
  let lasts_ns = match member "end_ns" json with `Null -> None | _ -> Some (int_at "end_ns" json - starts) in
  (match lasts_ns with Some n when n < 0 -> refuse "something ends before it starts, at %d ns" starts | _ -> ());
  { sm = int_or 0 "sm" json; starts; lasts_ns }

(* One launch: the operation, and its rows in the order of assignment. *)
type launch = { operation : operation; rows : row array; mutable used : int; own : int array }

(* Memsets, records and waits, which need neither time nor an engine, by when they enter their stream queues: with
   --rules a run tells of that. A wait is for the last record of its event before it, and says the event's name. *)
let instants_of make run =
  let records = Hashtbl.create 16 in
  let of_event title =
    match String.index_opt title '(' with
    | Some i -> String.sub title i (String.length title - i)
    | None -> unknown "%S is of no event" title
  in
  let instant json =
    let title = to_string (member "operation" json) and id = int_at "id" json in
    let begins word = String.starts_with ~prefix:(word ^ " ") (title ^ " ") in
    let what =
      if begins "wait" then Wait (Hashtbl.find_opt records (of_event title))
      else if begins "record" then (Hashtbl.replace records (of_event title) id; Instant)
      else Instant
    in
    make (`Assoc (("launched_ns", member "at_ns" json) :: to_assoc json)) what [||] [||]
  in
  let ids key = match member key run with `Null -> [] | json -> List.map (int_at "id") (to_list json) in
  let others = Hashtbl.create 16 in
  List.iter (fun id -> Hashtbl.replace others id ()) (ids "kernels" @ ids "copies");
  let is_launch json = member "rule" json = `String "G1" && not (Hashtbl.mem others (int_at "id" json)) in
  let rows = match member "rules" run with `Null -> [] | json -> List.filter is_launch (to_list json) in
  List.map instant (List.sort (fun a b -> compare (int_at "id" a) (int_at "id" b)) rows)

let launches_of run kernels copies engine_of =
  let make json what rows own =
    let stream = match member "stream" json with `Int n when n >= -1 -> n + 1 | _ -> unknown "a stream is no number" in
    let operation = { number = int_at "id" json; stream; launched_at = int_at "launched_ns" json; what } in
    { operation; rows; used = 0; own }
  in
  let kernel json =
    let name = to_string (member "name" json) in
    match List.find_opt (fun (n, _, _) -> n = name) kernels with
    | None -> unknown "the scenario has no kernel %s" name
    | Some (_, what, own) ->
        let placements = Array.of_list (to_list (member "placements" json)) in
        let count = Array.length placements in
        let rows = Array.make count None in
        Array.iter
          (fun p ->
            let block = int_at "block" p in
            (match if block < count then rows.(block) else None with
            | None when block < count -> rows.(block) <- Some (row p)
            | _ -> refuse "kernel %s has %d blocks, and not each once" name count))
          placements;
        make json what (Array.map Option.get rows) own
  in
  let copy json =
    let started = member "start_ns" json <> `Null in
    let direction = to_string (member "direction" json) and bytes = int_or 0 "bytes" json in
    let alike = List.filter_map (fun (d, b, t) -> if d = direction && b = bytes then Some t else None) copies in
    if alike = [] then unknown "the scenario has no copy %s of %d bytes" direction bytes;
    let lasts = { best = List.fold_left min max_int alike; worst = List.fold_left max 0 alike } in
    make json (Copy (engine_of direction, lasts)) (if started then [| row json |] else [||]) [||]
  in
  let all key = match member key run with `Null -> [] | json -> to_list json in
  let all = List.map kernel (all "kernels") @ List.map copy (all "copies") @ instants_of make run in
  let all = Array.of_list all in
  Array.sort (fun a b -> compare a.operation.number b.operation.number) all;
  Array.iteri
    (fun i l ->
      if l.operation.number <> i then
        unknown "operation %d is missing, or a memset, a record or a wait, of which a run tells with --rules" i)
    all;
  all

(* In which order kernels and copies enter EE and CE queues, as far as the run tells. *)
let entries_of run =
  let enters json = match member "rule" json with `String ("G2" | "C1") -> true | _ -> false in
  let rows = match member "rules" run with `Null -> [] | json -> List.filter enters (to_list json) in
  Array.of_list (List.map (int_at "id") rows)

let until_end = 1 lsl 61

(* How often a run is looked at in another way. *)
let most_attempts = 20_000

let check device launches entries end_ns =
  let state = ref { older = empty device; newest = [] } and steps = ref 0 and blocks = ref 0 and next_launch = ref 0 in
  (* Of whom rows were used, and how many these are. *)
  let users = ref [] and uses = ref 0 in
  let go label what =
    incr steps;
    match exec_fast device !state label with
    | Some next -> state := next
    | None -> refuse "at %d ns the rules do not allow that %s" !state.older.now (Lazy.force what)
  in
  let now () = !state.older.now in
  let running () =
    (match !state.newest with [] -> () | _ -> state := { older = whole !state; newest = [] });
    !state.older.running
  in
  let name o = Printf.sprintf "operation %d" o.number in
  let entered = ref 0 in
  let rec promote () =
    let best = ref None in
    List.iteri
      (fun q k ->
        if readyb device !state.older q k then
          let head = List.hd k.waiting in
          match !best with Some b when b.number < head.number -> () | _ -> best := Some head)
      !state.older.queues;
    match !best with
    | None -> ()
    | Some o ->
        (match o.what with
        | Kernel _ | Copy _ ->
            if !entered < Array.length entries && entries.(!entered) <> o.number then
              refuse "at %d ns the rules do not allow that %s enters its queue so late" (now ()) (name o);
            incr entered
        | _ -> ());
        go (GoOn o) (lazy (name o ^ " goes on"));
        promote ()
  in
  (* The next row of an operation, if it says that the operation or its next block begins now. *)
  let begins number =
    let l = launches.(number) in
    if l.used < Array.length l.rows && l.rows.(l.used).starts = now () then begin
      let r = l.rows.(l.used) in
      (match r.lasts_ns with
      | Some d when l.used < Array.length l.own && l.own.(l.used) <> d ->
          refuse "block %d of operation %d runs for %d ns" l.used number d
      | _ -> ());
      l.used <- l.used + 1;
      users := l :: !users;
      incr uses;
      Some r
    end
    else None
  in
  let unused until =
    while !uses > until do
      let l = List.hd !users in
      l.used <- l.used - 1;
      users := List.tl !users;
      decr uses
    done
  in
  let length number r =
    match r.lasts_ns, launches.(number).operation.what with
    | Some d, _ -> d
    (* It runs past the end of the run: so long that it does. *)
    | None, (Kernel (_, _, range) | Copy (_, range)) -> max range.best (min range.worst until_end)
    | None, _ -> 0
  in
  let ends_now () = List.exists (fun r -> r.ends = now ()) (running ()) in
  (* What else hosts may have done, the last first; and whether something of no length has ended at this instant, without
     which there is nothing else. *)
  let choices = ref [] and again = ref false in
  (* Whether something of no length has been assigned since the last completions: nothing else ends now. *)
  let no_length = ref false in
  let rec dispatch () =
    let idle e = List.for_all (fun r -> r.on <> Engine e) (running ()) in
    let rec to_begin e = function
      | [] -> None
      | (o :: _) :: _ when idle e -> Some o
      | _ :: rest -> to_begin (e + 1) rest
    in
    match to_begin 0 !state.older.ce with
    | Some o -> (
        match begins o.number with
        | Some r ->
            no_length := !no_length || length o.number r = 0;
            go (Begin (o, length o.number r)) (lazy (name o ^ " begins"));
            dispatch ()
        | None -> refuse "at %d ns operation %d would begin" (now ()) o.number)
    | None -> (
        match List.find_opt (function [] -> false | _ -> true) !state.older.ee with
        | None | Some [] -> ()
        | Some ((o, _) :: _) -> (
            match begins o.number with
            | Some r when !no_length && exec_fast device !state (Assign (o, r.sm, length o.number r)) = None ->
                (* Blocks of no length: the rest comes when these have ended, still at this instant. *)
                unused (!uses - 1)
            | Some r ->
                incr blocks;
                no_length := !no_length || length o.number r = 0;
                go (Assign (o, r.sm, length o.number r))
                  (lazy (Printf.sprintf "%s has a block assigned to SM %d" (name o) r.sm));
                dispatch ()
            | None -> ()))
  in
  let rec launch_now n =
    if n > 0 then begin
      let o = launches.(!next_launch).operation in
      incr next_launch;
      go (Launch o) (lazy (name o ^ " is launched"));
      promote ();
      launch_now (n - 1)
    end
  in
  let rec completions () =
    promote ();
    match first_end (now ()) (running ()) with
    | Some ((_, r), _) -> go (End (r.of0, r.on)) (lazy (name r.of0 ^ " ends")); completions ()
    | None -> ()
  in
  (* All of this instant; whether the run has another one. *)
  let rec instant () =
    completions ();
    no_length := false;
    go HostsTurn (lazy "hosts act");
    let rec due n =
      let at = !next_launch + n in
      if at < Array.length launches && launches.(at).operation.launched_at = now () then due (n + 1) else n
    in
    hosts (due 0)
  (* Hosts launch [n] operations now; or, should that lead nowhere, fewer, and the others after something of no length has
     ended. *)
  and hosts n =
    if n > 0 then begin
      let before = !state and done_steps = !steps and done_blocks = !blocks in
      let launched = !next_launch and used = !uses and done_entries = !entered in
      let fewer () =
        state := before;
        no_length := false;
        steps := done_steps;
        blocks := done_blocks;
        next_launch := launched;
        entered := done_entries;
        unused used;
        hosts (n - 1)
      in
      choices := fewer :: !choices
    end;
    launch_now n;
    go DispatchTurn (lazy "blocks are assigned");
    dispatch ();
    if ends_now () then begin
      again := true;
      go Again (lazy "something of no length has ended");
      instant ()
    end
    else pass ()
  and pass () =
    let missed o =
      let l = launches.(o.number) in
      if l.used < Array.length l.rows && l.rows.(l.used).starts <= now () then
        refuse "at %d ns the rules do not allow that operation %d begins" l.rows.(l.used).starts o.number
    in
    List.iter (List.iter (fun (o, _) -> missed o)) !state.older.ee;
    List.iter (List.iter missed) !state.older.ce;
    let next = List.fold_left (fun t r -> min t r.ends) max_int (running ()) in
    let next =
      if !next_launch < Array.length launches then min next launches.(!next_launch).operation.launched_at else next
    in
    if next <= end_ns then begin
      go (Until next) (lazy (Printf.sprintf "nothing happens until %d ns" next));
      true
    end
    else begin
      go (Until (max end_ns (now ()) + 1)) (lazy (Printf.sprintf "nothing more happens until %d ns" end_ns));
      false
    end
  in
  let is_complete () =
    Array.iter
      (fun l ->
        if l.used < Array.length l.rows then
          refuse "operation %d does not begin at %d ns as the run says" l.operation.number l.rows.(l.used).starts)
      launches;
    if !next_launch < Array.length launches then refuse "operation %d is never launched" !next_launch
  in
  let rec instants first =
    let before = !choices in
    again := false;
    let more = first () in
    if not !again then choices := before;
    if more then instants instant else is_complete ()
  in
  (* What leads nowhere is tried in another way; told is what leads furthest. *)
  let rec attempt first left furthest =
    try instants first
    with Refused why -> (
      let furthest = if now () >= fst furthest then (now (), why) else furthest in
      match !choices with
      | [] -> raise (Refused (snd furthest))
      | _ when left = 0 ->
          unknown "hosts may have launched in more than %d ways around what takes no time; of those looked at the furthest: %s"
            most_attempts (snd furthest)
      | other :: rest ->
          choices := rest;
          attempt other (left - 1) furthest)
  in
  attempt instant most_attempts (-1, "");
  (!blocks, !steps)

let run_of device scenario run =
  if member "processes" scenario <> `Null then unknown "there are processes";
  let _, gpu = gpu_of device scenario in
  check_registers device (allocation_of device) (entries "kernels" scenario);
  let kernels = List.map (kernel_of (allocation_of device)) (entries "kernels" scenario) in
  let parts = List.map (fun key -> match member key scenario with `List l -> l | _ -> []) [ "streams"; "hosts" ] in
  let copies = List.concat_map (copies_of device) (List.concat parts) in
  let launches = launches_of run kernels copies (engine_of device gpu) in
  check gpu launches (entries_of run) (int_at "end_ns" run)

(* Why nothing is known of what is read; another exception goes on. *)
let unread = function
  | Unknown why | Yojson.Json_error why | Type_error (why, _) | Undefined (why, _) | Sys_error why -> why
  | Stack_overflow -> "too long for the stack of this program"
  | other -> raise other

(* Many runs and certificates, one a line with its device and scenario: what is said of each, and whether none was
   refused. *)
let cases_of file =
  let is_fine = ref true in
  let judged json =
    let device = member "device" json and scenario = member "scenario" json in
    match member "certificate" json with
    | `Null ->
        let blocks, steps = run_of device scenario (member "run" json) in
        Printf.sprintf "accepted: %d blocks, %d steps" blocks steps
    | certificate -> Certificates.(accepted (check device scenario certificate))
  in
  let judge line =
    match judged (Yojson.Safe.from_string line) with
    | said -> print_endline said
    | exception Refused why ->
        is_fine := false;
        Printf.printf "refused: %s\n" why
    | exception error -> Printf.printf "not known: %s\n" (unread error)
  in
  let input = open_in file in
  (try
     while true do
       judge (input_line input)
     done
   with End_of_file -> close_in input);
  if not !is_fine then exit 1

let one device scenario about =
  match member "format" about with
  | `String "gpusched-certificate/1" ->
      let checked = Certificates.check device scenario about in
      Certificates.tell_of_others (snd checked);
      print_endline (Certificates.accepted checked)
  | _ ->
      let before = Sys.time () in
      let blocks, steps = run_of device scenario about in
      Printf.printf "the run follows the rules: %d blocks, %d steps\n" blocks steps;
      if Sys.getenv_opt "GPUSCHED_CHECK_TIME" <> None then Printf.eprintf "%.3f s\n" (Sys.time () -. before)

let () =
  (* Most of what is allocated is soon of no use. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 1000 };
  try
    match Sys.argv with
    | [| _; cases |] -> cases_of cases
    | [| _; device; scenario; about |] ->
        let file = Yojson.Safe.from_file in
        one (file device) (file scenario) (file about)
    | _ ->
        prerr_endline
          "usage: gpusched-check DEVICE SCENARIO RUN, or DEVICE SCENARIO CERTIFICATE, or CASES, a file of lines \
           {\"device\": ..., \"scenario\": ..., \"run\": ...}, or with a \"certificate\" in place of the run";
        exit 2
  with
  | Refused why ->
      Printf.printf "refused: %s\n" why;
      exit 1
  | Unknown why ->
      Printf.eprintf "not known to the rules of proofs/model.v: %s\n" why;
      exit 2
  | error ->
      prerr_endline (unread error);
      exit 2
