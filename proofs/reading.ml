(* What DEVICE and SCENARIO say, as the terms of rules.ml. *)
open Rules
open Yojson.Safe.Util

exception Refused of string
exception Unknown of string

let refuse form = Printf.ksprintf (fun text -> raise (Refused text)) form
let unknown form = Printf.ksprintf (fun text -> raise (Unknown text)) form

(* No sum of times or resources of a run leaves 63 bits below these. *)
let natural what n = if n < 0 || n > 1 lsl 60 then unknown "%s is %d" what n else n
let int_at key json =
  match member key json with
  | `Int n -> natural key n
  | `Null -> unknown "there is no %s" key
  | _ -> unknown "%s is no whole number below 2^60" key
let int_or default key json = match member key json with `Null -> default | _ -> int_at key json

(* What is in it under a key; nothing where it has none. *)
let entries key json = match member key json with `Null -> [] | json -> to_assoc json
let items key json = match member key json with `Null -> [] | json -> to_list json

(* Refuses what has another key than these, or one twice: the rules know nothing of what it says. *)
let only what keys json =
  let comment key = String.starts_with ~prefix:"comment" key in
  let own = List.filter (fun key -> not (comment key)) (List.map fst (to_assoc json)) in
  List.iter (fun key -> if not (List.mem key keys) then unknown "%s has the key %S" what key) own;
  if List.length (List.sort_uniq compare own) < List.length own then unknown "%s has a key twice" what

(* "1.000001 s", in nanoseconds. *)
let time text =
  let number, digits =
    match String.split_on_char ' ' text with
    | [ number; "s" ] -> (number, 9)
    | [ number; "ms" ] -> (number, 6)
    | [ number; "us" ] -> (number, 3)
    | [ number; "ns" ] -> (number, 0)
    | _ -> unknown "%S is no time" text
  in
  let whole, part =
    match String.split_on_char '.' number with
    | [ whole ] -> (whole, "")
    | [ whole; part ] when String.length part <= digits -> (whole, part)
    | _ -> unknown "%S is no time" text
  in
  match int_of_string_opt ("0u" ^ whole ^ part ^ String.make (digits - String.length part) '0') with
  | Some n -> natural "a time" n
  | None -> unknown "%S is no time" text

let device_of json streams masks in_one =
  (* [in_one] of the streams are of one process at most, which has channels of its own. *)
  only "the device"
    [ "name"; "title"; "compute_capability"; "sms"; "sms_per_tpc"; "warp_size"; "per_sm"; "per_block"; "register_allocation";
      "shared_memory_allocation"; "priority_levels"; "sm_order"; "gpcs"; "placement"; "copy_engines"; "copy"; "copies";
      "channels"; "channel_order"; "launch_latency_ns"; "kernel_gap_ns"; "pdl_trigger_latency_ns"; "pdl_wait_latency_ns";
      "synchronous_memset"; "time_slice_ns"; "switch_cost_ns"; "copy_time_slice_ns"; "runlists"; "preemption";
      "boost_clock_mhz"; "memory_bytes_per_s"; "ns_per_spin_iteration"; "sources"; "assumptions"; "$schema" ]
    json;
  only "what an SM has" [ "threads"; "warps"; "blocks"; "registers"; "shared_memory_bytes" ] (member "per_sm" json);
  only "the allocation of registers" [ "unit_per_warp"; "sub_partitions"; "warps_rounded_to" ]
    (member "register_allocation" json);
  only "the allocation of shared memory" [ "unit_bytes"; "reserved_per_block_bytes" ] (member "shared_memory_allocation" json);
  only "how fast copies are"
    [ "latency_ns"; "host_to_device_bytes_per_s"; "device_to_host_bytes_per_s"; "device_to_device_bytes_per_s";
      "device_to_device_engine" ]
    (member "copy" json);
  let per_sm = member "per_sm" json in
  let at key = int_at key per_sm in
  (* As the reader of gpusched has it: with none of these nothing runs, and with more nothing is to be divided by 0, or
     to be a list of all. *)
  let within (json, key, least, most) =
    let n = int_at key json in
    if n < least || n > most then unknown "%s is %d, which is not from %d to %d" key n least most
  in
  List.iter within
    [ (json, "sms", 1, 4_096); (json, "sms_per_tpc", 1, 4_096); (json, "warp_size", 1, 1_024);
      (json, "priority_levels", 1, 64); (json, "copy_engines", 1, 64);
      (member "register_allocation" json, "unit_per_warp", 1, 1 lsl 40);
      (member "register_allocation" json, "sub_partitions", 1, 1_024);
      (member "shared_memory_allocation" json, "unit_bytes", 1, 1 lsl 40) ];
  let threads = min (at "threads") (at "warps" * int_at "warp_size" json) in
  let sm = { threads; slots = at "blocks"; shared = at "shared_memory_bytes"; registers = at "registers" } in
  List.iter
    (fun key -> if int_or 0 key json > 0 then unknown "the device has %s" key)
    [ "launch_latency_ns"; "kernel_gap_ns"; "block_gap_ns" ];
  (* With one for each stream nothing waits for a channel. *)
  if member "channels" json <> `Null && int_at "channels" json < in_one then
    unknown "streams may wait for a channel";
  (match member "copies" json with
  | `Null | `String "one-at-a-time" -> ()
  | _ -> unknown "copies share a link");
  { sms = List.init (int_at "sms" json) (fun _ -> sm); engines = int_at "copy_engines" json;
    levels = int_at "priority_levels" json; streams; masks }

let allocation_of json =
  let registers = member "register_allocation" json and shared = member "shared_memory_allocation" json in
  { warp_size = int_at "warp_size" json; shared_unit = int_at "unit_bytes" shared;
    shared_reserved = int_at "reserved_per_block_bytes" shared; register_unit = int_at "unit_per_warp" registers;
    register_part = int_at "registers" (member "per_sm" json) / int_at "sub_partitions" registers }

let product = function
  | `Int n -> natural "a size" n
  | `List sides -> List.fold_left (fun n side -> natural "a size" (n * natural "a side" (to_int side))) 1 sides
  | _ -> unknown "blocks or threads are no number and no list"

(* What a kernel's block needs, how many there are, and how long each may run. *)
let kernel_of allocation (name, json) =
  only ("kernel " ^ name)
    [ "blocks"; "threads"; "duration"; "block_times"; "shared_memory_bytes"; "registers_per_thread"; "sm_mask"; "cluster" ]
    json;
  if member "sm_mask" json <> `Null then unknown "kernel %s has a mask" name;
  if member "cluster" json <> `Null then unknown "blocks of kernel %s come in clusters" name;
  let needs =
    takes allocation (product (member "threads" json)) (int_or 0 "shared_memory_bytes" json)
      (int_or 0 "registers_per_thread" json)
  in
  if int_or 0 "registers_per_thread" json > 0 && needs.registers = 0 then unknown "kernel %s never fits" name;
  let stated =
    match member "duration" json with
    | `String text -> [ time text ]
    | `Null -> []
    | json -> [ time (to_string (member "best" json)); time (to_string (member "worst" json)) ]
  in
  let own =
    match member "block_times" json with `Null -> [] | json -> List.map (fun t -> time (to_string t)) (to_list json)
  in
  let blocks = product (member "blocks" json) in
  let all = if List.length own >= blocks then own else stated @ own in
  if all = [] then unknown "kernel %s has no duration" name;
  let lasts = { best = List.fold_left min max_int all; worst = List.fold_left max 0 all } in
  (name, Kernel (blocks, needs, lasts), Array.of_list own)

(* [takes] charges each warp an even share of its part of the registers. That is what parts hold where all warps take the
   same; and where parts have no rest, if warps are dealt at best. *)
let check_registers device allocation kernels =
  let per_warp (_, json) =
    let asked = allocation.warp_size * int_or 0 "registers_per_thread" json in
    (asked + allocation.register_unit - 1) / allocation.register_unit * allocation.register_unit
  in
  match List.sort_uniq compare (List.filter (fun n -> n > 0) (List.map per_warp kernels)) with
  | [] | [ _ ] -> ()
  | kinds ->
      if member "dealing" (member "register_allocation" device) <> `Null
         || List.exists (fun n -> allocation.register_part mod n > 0) kinds
      then unknown "warps take unlike numbers of registers"

(* How long a copy may take. *)
let copy_times device json =
  let bytes = int_or 0 "bytes" json in
  match member "duration" json with
  | `String text -> [ time text ]
  | `Null ->
      let copy = member "copy" device in
      let key = String.map (fun c -> if c = '-' then '_' else c) (to_string (member "copy" json)) ^ "_bytes_per_s" in
      let rate = int_at key copy in
      if rate = 0 then unknown "%s is 0" key;
      if bytes > max_int / 1_000_000_000 then unknown "a copy has %d bytes" bytes;
      [ int_or 0 "latency_ns" copy + (((bytes * 1_000_000_000) + rate - 1) / rate) ]
  | json -> [ time (to_string (member "best" json)); time (to_string (member "worst" json)) ]

(* Which engine makes copies of a direction. *)
let engine_of device gpu = function
  | "device-to-host" -> if gpu.engines > 1 then 1 else 0
  | "device-to-device" -> int_or 0 "device_to_device_engine" (member "copy" device)
  | _ -> 0

let name_of json = to_string (member "name" json)
let optional_time key json = match member key json with `Null -> None | json -> Some (time (to_string json))

(* What an operation is called and does, and how long it may take; under [key] stands its kernel. *)
let submitted device gpu kernels key json =
  match member key json, member "copy" json with
  | `String kernel, _ -> (
      match List.find_opt (fun (n, _, _) -> n = kernel) kernels with
      | Some (_, Kernel (n, need, lasts), _) -> (kernel, Kernel (n, need, { lasts with best = 0 }))
      | _ -> unknown "there is no kernel %s" kernel)
  | _, `String direction ->
      let worst = List.fold_left max 0 (copy_times device json) in
      (direction, Copy (engine_of device gpu direction, { best = 0; worst }))
  | _ -> ((if member "memset" json <> `Null then "memset" else "record"), Instant)

(* Whether something in it has this key. *)
let rec has_key key = function
  | `Assoc entries -> List.exists (fun (own, json) -> own = key || has_key key json) entries
  | `List entries -> List.exists (has_key key) entries
  | _ -> false

(* The SMs that a mask keeps a stream from: bit [i] of it is TPC [i], which it disables, or after "~" enables alone. *)
let masked_sms device json =
  match member "sm_mask" json with
  | `Null -> []
  | mask ->
      let text = to_string mask in
      let inverted = String.starts_with ~prefix:"~" text in
      let start = if inverted then 1 else 0 in
      if not (String.starts_with ~prefix:"0x" (String.sub text start (String.length text - start))) then
        unknown "%S is no mask" text;
      let digit c = try int_of_string (Printf.sprintf "0x%c" c) with Failure _ -> unknown "%S is no mask" text in
      let bit tpc =
        let at = String.length text - 1 - (tpc / 4) in
        at >= start + 2 && (digit text.[at] lsr (tpc mod 4)) land 1 = 1
      in
      let per_tpc = max 1 (int_at "sms_per_tpc" device) in
      List.filter (fun sm -> bit (sm / per_tpc) <> inverted) (List.init (int_at "sms" device) Fun.id)

(* The key of a stream or host that says of which process it is. *)
let of_process scenario = if member "processes" scenario = `Null then [] else [ "process" ]

(* Clients of MPS that may use all SMs wait in the same queues, as threads of one process. But each has a NULL stream of
   its own: where nobody uses it, it holds nothing, and no stream waits for it. Whether there are such clients. *)
let has_clients scenario =
  let rec mentions_null = function
    | `String name -> name = "NULL"
    | `List all -> List.exists mentions_null all
    | `Assoc entries -> List.exists (fun (_, json) -> mentions_null json) entries
    | _ -> false
  in
  let client (name, json) =
    only ("process " ^ name) [ "mps_percentage"; "time_slice"; "level" ] json;
    match member "mps_percentage" json with
    | `Null | `Int 100 -> ()
    | _ -> unknown "process %s may use a part of the SMs" name
  in
  match member "processes" scenario with
  | `Null -> false
  | processes ->
      if member "mps" scenario <> `Bool true then unknown "there are processes that take turns";
      List.iter client (to_assoc processes);
      if mentions_null (member "streams" scenario) || mentions_null (member "hosts" scenario) then
        unknown "there are NULL streams of several processes";
      let names = List.map name_of (items "streams" scenario) in
      if List.length (List.sort_uniq compare names) < List.length names then
        unknown "streams of several processes have one name";
      true

(* The streams of a scenario but the NULL stream, and the GPU with all of them: that is the first. *)
let gpu_of device scenario =
  let are_clients = has_clients scenario in
  only "the scenario"
    [ "$schema"; "format"; "name"; "source"; "device"; "placement"; "seed"; "release_order"; "horizon"; "mps";
      "processes"; "kernels"; "streams"; "hosts"; "chains"; "expected"; "assumptions"; "green_contexts"; "graphs" ]
    scenario;
  (match member "format" scenario with
  | `String "gpusched-scenario/1" -> ()
  | _ -> unknown "the format of the scenario is not gpusched-scenario/1");
  if member "green_contexts" scenario <> `Null then unknown "there are green contexts";
  if member "graphs" scenario <> `Null then unknown "there are CUDA graphs";
  if List.exists (fun key -> has_key "programmatic" (member key scenario)) [ "streams"; "hosts" ] then
    unknown "a kernel is launched programmatically";
  let stream json =
    only "a stream"
      ([ "name"; "priority"; "blocking"; "sm_mask"; "release"; "period"; "jitter"; "jobs"; "deadline"; "operations" ]
      @ of_process scenario)
      json;
    let kinds =
      [ ("kernel", [ "programmatic" ]); ("copy", [ "bytes"; "duration" ]); ("memset", []); ("record", [ "programmatic" ]);
        ("wait", [ "programmatic" ]) ]
    in
    let operation json =
      match List.filter (fun (kind, _) -> member kind json <> `Null) kinds with
      | [ (kind, more) ] -> only "an operation" (kind :: more) json
      | _ -> unknown "an operation is not one of kernel, copy, memset, record and wait"
    in
    List.iter operation (items "operations" json);
    let priority =
      match member "priority" json with `Int n when n <= 0 -> -n | `Null -> 0 | _ -> unknown "a priority is above 0"
    in
    let level = int_at "priority_levels" device - 1 - priority in
    let blocking =
      match member "blocking" json with
      | `Bool b -> b
      | `Null -> member "priority" json = `Null
      | _ -> unknown "blocking is neither true nor false"
    in
    { level; blocking = blocking && not are_clients }
  in
  let null, listed = List.partition (fun s -> member "name" s = `String "NULL") (items "streams" scenario) in
  List.iter (fun json -> ignore (stream json)) null;
  let null = { level = int_at "priority_levels" device - 1; blocking = true } in
  let masks = [] :: List.map (masked_sms device) listed in
  let masks = if List.for_all (fun mask -> mask = []) masks then [] else masks in
  let alike json = List.filter (fun other -> member "process" other = member "process" json) listed in
  let in_one = List.fold_left (fun most json -> max most (1 + List.length (alike json))) 1 listed in
  (listed, device_of device (null :: List.map stream listed) masks in_one)
