(** * Sets and tables of boards, as trees by their cells *)

From Coq Require Import Ascii String.
From Coq Require Export List NArith.
From Proofs Require Import Walk.
From Proofs Require Export Rules.
Export ListNotations StringSyntax.
Global Open Scope string_scope.

(** Below a node: boards whose next cell is free, has a stone of X, or one of O. *)
Inductive tree := Empty | Node (here : option nat) (free x o : tree).

Definition child (t : tree) (c : cell) : tree :=
  match t, c with
  | Empty, _ => Empty
  | Node _ t _ _, Free => t
  | Node _ _ t _, Stone X => t
  | Node _ _ _ t, Stone O => t
  end.

Fixpoint find_board (b : board) (t : tree) : option nat :=
  match t, b with
  | Empty, _ => None
  | Node here _ _ _, [] => here
  | _, c :: rest => find_board rest (child t c)
  end.

Definition parts (t : tree) : option nat * tree * tree * tree :=
  match t with
  | Empty => (None, Empty, Empty, Empty)
  | Node here free x o => (here, free, x, o)
  end.

Fixpoint add_board (b : board) (value : nat) (t : tree) : tree :=
  let '(here, free, x, o) := parts t in
  match b with
  | [] => Node (Some value) free x o
  | Free :: rest => Node here (add_board rest value free) x o
  | Stone X :: rest => Node here free (add_board rest value x) o
  | Stone O :: rest => Node here free x (add_board rest value o)
  end.

Definition tree_of (l : list (board * nat)) : tree :=
  fold_left (fun t '(b, value) => add_board b value t) l Empty.

(** A board from a text: X, O, or - for a free cell. *)
Fixpoint board_of (text : string) : board :=
  match text with
  | EmptyString => []
  | String "X" rest => Stone X :: board_of rest
  | String "O" rest => Stone O :: board_of rest
  | String _ rest => Free :: board_of rest
  end.

Definition table (l : list (string * nat)) : tree :=
  tree_of (map (fun '(text, value) => (board_of text, value)) l).

(** The move of a table; an illegal one on a board that it lacks. *)
Definition table_move (moves : tree) (b : board) : nat :=
  match find_board b moves with Some move => move | None => List.length b end.

(** ** The boards of a list, each once: no board is lost *)

Fixpoint boards (t : tree) : list board :=
  match t with
  | Empty => []
  | Node here free x o =>
    match here with Some _ => [[]] | None => [] end
    ++ map (cons Free) (boards free)
    ++ map (cons (Stone X)) (boards x)
    ++ map (cons (Stone O)) (boards o)
  end.

Definition merge_boards (l : list board) : list board :=
  boards (tree_of (map (fun b => (b, 0)) l)).

Definition holds (t : tree) (b : board) : Prop := find_board b t <> None.

Lemma boards_holds b : forall t, holds t b -> In b (boards t).
Proof.
  induction b as [|c b IH]; intros [|here free x o] found; try (now destruct found);
    cbn [boards]; unfold holds in *; cbn [find_board] in found.
  - destruct here; [now left | easy].
  - apply in_or_app. right. apply in_or_app. destruct c as [|[|]]; cbn [child] in found.
    + left. now apply in_map, IH.
    + right. apply in_or_app. left. now apply in_map, IH.
    + right. apply in_or_app. right. now apply in_map, IH.
Qed.

Lemma add_holds b value : forall t, holds (add_board b value t) b.
Proof.
  unfold holds. induction b as [|c b IH]; intros [|here free x o]; cbn; try easy;
    destruct c as [|[|]]; cbn; apply IH.
Qed.

Lemma add_keeps b value : forall t c, holds t c -> holds (add_board b value t) c.
Proof.
  unfold holds. induction b as [|d b IH]; intros t c found;
    destruct t as [|here free x o], c as [|e c]; cbn in found; try congruence.
  - easy.
  - exact found.
  - now destruct d as [|[|]].
  - destruct d as [|[|]], e as [|[|]]; cbn in *; auto.
Qed.

Lemma tree_keeps l : forall t b,
  holds t b \/ In b (map fst l) ->
  holds (fold_left (fun t '(b, value) => add_board b value t) l t) b.
Proof.
  induction l as [|[c value] l IH]; intros t b [found|here]; cbn in *; try easy;
    apply IH.
  - left. now apply add_keeps.
  - destruct here as [->|here]; [left; apply add_holds | now right].
Qed.

Theorem merge_keeps b l : In b l -> In b (merge_boards l).
Proof.
  intros here. apply boards_holds, tree_keeps. right.
  rewrite map_map. cbn. now rewrite map_id.
Qed.

(** ** Walks over boards *)

(** The number of the agent's own boards, if it never loses. *)
Definition own_boards (s : shape) (agent : player) (strategy : board -> nat) : option N :=
  let rules := stones_in_a_row s in
  walk rules agent strategy false merge_boards (S (List.length rules.(start))) [rules.(start)].

Theorem own_boards_never_loses s agent strategy number :
  own_boards s agent strategy = Some number ->
  never_loses (stones_in_a_row s) agent strategy.
Proof. apply walk_never_loses, merge_keeps. Qed.

(** The walk reaches this number of the agent's own boards: the kernel computes it once. *)
Ltac by_walk number :=
  apply (own_boards_never_loses _ _ _ number);
  vm_cast_no_check (@eq_refl (option N) (Some number)).
