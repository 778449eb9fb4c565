/** The kinds of exact names. */

export type NameKind =
  | "identifier"
  | "path"
  | "number"
  | "hash"
  | "address"
  | "version"
  | "flag"
  | "error"
  | "quoted"
  | "ticket"

export interface ExactName {
  readonly name: string
  readonly kind: NameKind
}
