(* The rules as a program: [exec] does a step if the rules allow it. *)
From Coq Require Import List Arith Bool.
Import ListNotations.
From gpusched Require Import model.

Definition resources_eqb (a b : resources) : bool :=
  (threads a =? threads b) && (slots a =? slots b) && (shared a =? shared b) && (registers a =? registers b).
Definition range_eqb (a b : range) : bool := (best a =? best b) && (worst a =? worst b).
Definition work_eqb (a b : work) : bool :=
  match a, b with
  | Kernel n r l, Kernel n' r' l' => (n =? n') && resources_eqb r r' && range_eqb l l'
  | Copy e l, Copy e' l' => (e =? e') && range_eqb l l'
  | Instant, Instant => true
  | Wait None, Wait None => true
  | Wait (Some r), Wait (Some r') => r =? r'
  | _, _ => false
  end.
Definition operation_eqb (a b : operation) : bool :=
  (number a =? number b) && (stream a =? stream b) && (launched_at a =? launched_at b) && work_eqb (what a) (what b).
Definition place_eqb (a b : place) : bool :=
  match a, b with Sm i, Sm j | Engine i, Engine j => i =? j | _, _ => false end.
Definition dispatching (s : state) : bool := match turn s with Dispatch => true | _ => false end.
Definition hosting (s : state) : bool := match turn s with Hosts => true | _ => false end.
Definition completing (s : state) : bool := match turn s with Completions => true | _ => false end.

Definition fitsb (need room : resources) : bool :=
  (threads need <=? threads room) && (slots need <=? slots room) && (shared need <=? shared room)
  && (registers need <=? registers room).
Definition withinb (d : nat) (r : range) : bool := (best r <=? d) && (d <=? worst r).

Definition empty_or_laterb (o : operation) (k : stream_queue) : bool :=
  match waiting k with [] => true | h :: _ => number o <? number h end.
(* Whether all blocking streams but the first are empty, or have a head that was launched after [o]. *)
Fixpoint N1b (kinds : list stream_kind) (all : list stream_queue) (o : operation) : bool :=
  match kinds, all with
  | kind :: kinds', k :: all' => (negb (blocking kind) || empty_or_laterb o k) && N1b kinds' all' o
  | _, _ => true
  end.
Definition N2b (g : device) (s : state) (q : nat) (o : operation) : bool :=
  match nth_error (streams g) q with
  | Some kind => negb (blocking kind) || match queues s with k :: _ => empty_or_laterb o k | [] => true end
  | None => true
  end.
Definition E2b (s : state) (o : operation) : bool :=
  match what o with
  | Wait (Some r) => forallb (fun k => forallb (fun p => negb (number p =? r)) (waiting k)) (queues s)
  | _ => true
  end.
Definition goes (g : device) (s : state) (q : nat) (o : operation) : bool :=
  match q with 0 => N1b (tl (streams g)) (tl (queues s)) o | S _ => N2b g s q o end && E2b s o.
Definition readyb (g : device) (s : state) (q : nat) (k : stream_queue) : bool :=
  match k with Queue false (o :: _) => goes g s q o | _ => false end.

(* Whether [p] holds of every element and its place, counted from [q]. *)
Fixpoint all_from {A} (p : nat -> A -> bool) (q : nat) (l : list A) : bool :=
  match l with [] => true | x :: rest => p q x && all_from p (S q) rest end.
Definition all_went_onb (g : device) (s : state) : bool :=
  all_from (fun q k => negb (readyb g s q k)) 0 (queues s).
Definition firstb (g : device) (s : state) (q : nat) (o : operation) : bool :=
  all_from (fun q' k => (q' =? q) || negb (readyb g s q' k)
                        || match waiting k with h :: _ => number o <? number h | [] => true end) 0 (queues s).

Definition idleb (s : state) (e : nat) : bool := forallb (fun r => negb (place_eqb (on r) (Engine e))) (running s).
Definition beginsb (s : state) (e : nat) (k : list operation) : bool := match k with [] => false | _ => idleb s e end.
Definition no_copy_beginsb (s : state) : bool := all_from (fun e k => negb (beginsb s e k)) 0 (ce s).
Definition no_earlier_beginsb (s : state) (e : nat) : bool :=
  all_from (fun e' k => (e <=? e') || negb (beginsb s e' k)) 0 (ce s).

Fixpoint next_from (l : nat) (all : list (list (operation * nat)))
    : option (nat * (operation * nat) * list (operation * nat)) :=
  match all with
  | [] => None
  | [] :: more => next_from (S l) more
  | (x :: rest) :: _ => Some (l, x, rest)
  end.
Definition may_useb (g : device) (o : operation) (i : nat) : bool :=
  negb (existsb (Nat.eqb i) (nth (stream o) (masks g) [])).
Definition no_block_fitsb (g : device) (s : state) : bool :=
  match next_from 0 (ee s) with
  | Some (_, (o, _), _) =>
      match what o with
      | Kernel _ need _ => all_from (fun i room => negb (fitsb need room && may_useb g o i)) 0 (free s)
      | _ => true
      end
  | None => true
  end.
Definition none_ends_nowb (s : state) : bool := forallb (fun r => negb (ends r =? now s)) (running s).
Definition overb (s : state) (o : operation) (still : list run) : bool :=
  forallb (fun r => negb (number (of r) =? number o)) still
  && forallb (forallb (fun x : operation * nat => negb (number (fst x) =? number o))) (ee s).
(* The first that ends at [t], what was assigned before it, and after. *)
Fixpoint first_end (t : nat) (l : list run) : option (list run * run * list run) :=
  match l with
  | [] => None
  | r :: rest =>
      if ends r =? t then Some ([], r, rest)
      else match first_end t rest with Some (b, x, a) => Some (r :: b, x, a) | None => None end
  end.

Definition go_on (g : device) (s : state) (o : operation) : option state :=
  let q := stream o in
  match nth_error (queues s) q with
  | Some (Queue false (h :: rest)) =>
      if operation_eqb h o && goes g s q h && firstb g s q h then
        match what h with
        | Kernel n _ _ =>
            match nth_error (streams g) q with
            | Some kind =>
                match nth_error (ee s) (level kind) with
                | Some before =>
                    Some (State (now s) (turn s) (launched s) (update q (Queue true (h :: rest)) (queues s))
                                (update (level kind) (before ++ [(h, n)]) (ee s)) (ce s) (running s) (free s))
                | None => None
                end
            | None => None
            end
        | Copy e _ =>
            match nth_error (ce s) e with
            | Some before =>
                Some (State (now s) (turn s) (launched s) (update q (Queue true (h :: rest)) (queues s)) (ee s)
                            (update e (before ++ [h]) (ce s)) (running s) (free s))
            | None => None
            end
        | _ => Some (State (now s) (turn s) (launched s) (update q (Queue false rest) (queues s)) (ee s) (ce s)
                           (running s) (free s))
        end
      else None
  | _ => None
  end.

Definition exec (g : device) (s : state) (x : label) : option state :=
  match x with
  | GoOn o => go_on g s o
  | Launch o =>
      if hosting s && all_went_onb g s && (number o =? launched s) && (launched_at o =? now s)
         && match what o with Kernel 0 _ _ => false | _ => true end then
        match nth_error (queues s) (stream o) with
        | Some k =>
            Some (State (now s) (turn s) (S (launched s))
                        (update (stream o) (Queue (gone_on k) (waiting k ++ [o])) (queues s))
                        (ee s) (ce s) (running s) (free s))
        | None => None
        end
      else None
  | End o p =>
      if completing s && all_went_onb g s then
        match first_end (now s) (running s) with
        | Some (before, r, after) =>
            if operation_eqb (of r) o && place_eqb (on r) p then
              if overb s (of r) (before ++ after) then
                match nth_error (queues s) (stream (of r)) with
                | Some (Queue true (h :: rest)) =>
                    if operation_eqb h (of r) then
                      Some (State (now s) (turn s) (launched s)
                                  (update (stream (of r)) (Queue false rest) (queues s)) (ee s) (ce s)
                                  (before ++ after) (given_back s r))
                    else None
                | _ => None
                end
              else Some (State (now s) (turn s) (launched s) (queues s) (ee s) (ce s) (before ++ after)
                               (given_back s r))
            else None
        | None => None
        end
      else None
  | HostsTurn =>
      if completing s && all_went_onb g s && none_ends_nowb s then
        Some (State (now s) Hosts (launched s) (queues s) (ee s) (ce s) (running s) (free s))
      else None
  | DispatchTurn =>
      if hosting s && all_went_onb g s then
        Some (State (now s) Dispatch (launched s) (queues s) (ee s) (ce s) (running s) (free s))
      else None
  | Begin o d =>
      match what o with
      | Copy e lasts =>
          match nth_error (ce s) e with
          | Some (h :: rest) =>
              if dispatching s && operation_eqb h o && idleb s e && no_earlier_beginsb s e && withinb d lasts then
                Some (State (now s) (turn s) (launched s) (queues s) (ee s) (update e rest (ce s))
                            (running s ++ [Run o (Engine e) (now s + d)]) (free s))
              else None
          | _ => None
          end
      | _ => None
      end
  | Assign o i d =>
      match next_from 0 (ee s), what o, nth_error (free s) i with
      | Some (l, (h, S n), rest), Kernel _ need lasts, Some room =>
          if dispatching s && no_copy_beginsb s && operation_eqb h o && fitsb need room && may_useb g o i
             && withinb d lasts then
            Some (State (now s) (turn s) (launched s) (queues s) (update l (G3 o n rest) (ee s)) (ce s)
                        (running s ++ [Run o (Sm i) (now s + d)]) (update i (minus room need) (free s)))
          else None
      | _, _, _ => None
      end
  | Again =>
      if dispatching s && no_copy_beginsb s && no_block_fitsb g s && negb (none_ends_nowb s) then
        Some (State (now s) Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s))
      else None
  | Until t =>
      if dispatching s && no_copy_beginsb s && no_block_fitsb g s && none_ends_nowb s && (now s <? t)
         && forallb (fun r => t <=? ends r) (running s) then
        Some (State t Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s))
      else None
  end.

(* The checker: whether a list of steps is a run of the device from its beginning on, and where it ends. *)
Fixpoint exec_all (g : device) (s : state) (xs : list label) : option state :=
  match xs with
  | [] => Some s
  | x :: rest => match exec g s x with Some t => exec_all g t rest | None => None end
  end.
