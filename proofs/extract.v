(* The rules as OCaml. Numbers become its integers of 63 bits; check.ml refuses what could leave them. *)
From Coq Require Extraction ExtrOcamlBasic ExtrOcamlNatInt.
From gpusched Require Import model executable fast serial certificate sporadic sharing responses hosts planned phased chains.

(* Arith has names of its own for these. *)
Extract Inlined Constant PeanoNat.Nat.add => "(+)".
Extract Inlined Constant PeanoNat.Nat.sub => "(fun a b -> Stdlib.max 0 (a - b))".
Extract Inlined Constant PeanoNat.Nat.max => "Stdlib.max".
Extract Inlined Constant PeanoNat.Nat.min => "Stdlib.min".
Extract Inlined Constant Nat.div => "(fun a b -> if b = 0 then 0 else a / b)".
Extract Inlined Constant PeanoNat.Nat.modulo => "(fun a b -> if b = 0 then a else a mod b)".
Extract Inlined Constant PeanoNat.Nat.div => "(fun a b -> if b = 0 then 0 else a / b)".

Extraction "rules.ml" exec_fast whole empty readyb first_end takes accept accept_window accept_shared accept_responses accept_hosts accept_phased accept_chain accept_chain_in_phase accept_pauses any_phase weight level_of.
