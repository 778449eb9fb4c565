/**
 * The effects of a command line, as far as they can be determined without running it, and how commands are confined. Rules, read-only
 * detection and dialogs all use these facts. The agent folder parses and runs command lines.
 */
import type { SandboxMode } from "../base/enums.ts"

export interface CommandLineFacts {
  readonly line: string
  /** All simple commands at any nesting level, including those inside `bash -c`, `xargs`, `find -exec` and substitutions. */
  readonly commands: readonly SimpleCommand[]
  /** Files that the redirections read and write. */
  readonly redirections: FileUses
  /** Effects that are unknown before the line runs, as sentences for the user. */
  readonly unknown: readonly string[]
  /** Parts of the line that the user should review. */
  readonly unusual: readonly UnusualPart[]
  /**
   * Whether the line belongs to the supported subset of shell syntax, so that the facts are reliable. Otherwise they only explain the line,
   * and nothing runs outside a sandbox because of them.
   */
  readonly isExact: boolean
  /** Whether the line changes nothing: either it was parsed exactly, or it runs in a sandbox. */
  readonly isReadOnly: boolean
  /** Whether only the sandbox prevents the line from changing anything, and from reading more than is known. */
  readonly isConfined: boolean
}

export interface SimpleCommand {
  /** Arguments as bash would pass them, the program first. `undefined`: not known before it runs. */
  readonly words: readonly (string | undefined)[]
  /** Whether the command itself changes nothing. A command that it starts (`timeout 5 rm x`) is listed separately. */
  readonly isReadOnly: boolean
  /** Files that its arguments read and write. */
  readonly uses: FileUses
  /** Possible paths among its arguments, if their effect is not understood. */
  readonly names: readonly string[]
  /** Whether it sets variables that can change which programs run: `PATH=… npm test`. */
  readonly changesEnvironment: boolean
  /** Whether it only starts the next command: `timeout 5`, `nice`. A rule for that command covers it. */
  readonly isWrapper?: boolean
  /**
   * Whether this may be a command started by the one before: the arguments after `npx`, `docker exec` or `parallel`. Only deny and ask
   * rules use it.
   */
  readonly isGuess?: boolean
}

export interface FileUses {
  readonly reads: readonly FileUse[]
  readonly writes: readonly FileUse[]
}

export interface FileUse {
  /** Absolute path with symbolic links resolved. `undefined`: not known before it runs. */
  readonly path: string | undefined
  /** Whether the use includes the content of all files below the path. */
  readonly isTree?: boolean
  /** Whether names below the path that start with a dot are excluded. */
  readonly skipsHidden?: boolean
  /** The use covers only files below the path that git tracks. */
  readonly tracked?: { readonly top: string; readonly index: string }
  /** Whether only the names in the directory are read, to match a pattern. */
  readonly isListed?: boolean
}

export type UnusualKind =
  | "substitution"
  | "redirection"
  | "here-document"
  | "background"
  | "escape"
  | "control character"
  | "invisible character"
  | "look-alike character"

/** `start` and `end` are offsets into the line. */
export interface UnusualPart {
  readonly kind: UnusualKind
  readonly start: number
  readonly end: number
}

/** How the commands of a conversation are confined. */
export interface Confinement {
  readonly sandbox: SandboxMode
  /** Strata's root directory. Commands in a sandbox cannot see it. */
  readonly root: string
  /** Directories that can be read without permission, even inside the root. */
  readonly readable: readonly string[]
}
