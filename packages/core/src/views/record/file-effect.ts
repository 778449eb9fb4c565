/** What happened to one file. */
export interface FileEffect {
  readonly path: string
  /** `written`: the complete file, new or not. `touched`: created if it did not exist. */
  readonly what: "read" | "created" | "written" | "changed" | "touched" | "deleted"
  /** The complete content, if the call contains it. */
  readonly content?: string
}
