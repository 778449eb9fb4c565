/** What happened to one file. */
export interface FileEffect {
  readonly path: string
  /** `written`: the whole file, new or not. `touched`: created if it was not there. */
  readonly what: "read" | "created" | "written" | "changed" | "touched" | "deleted"
  /** The whole content, where the call shows it. */
  readonly content?: string
}
