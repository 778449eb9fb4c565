/**
 * What a command line would do, as far as it can be known without running it, and how its commands are confined. Rules, read-only detection
 * and dialogs all use these facts. Who reads and runs such lines is above.
 */
import type { SandboxMode } from "../base/vocabulary.ts"

export interface CommandFacts {
  readonly line: string
  /** Every simple command in every nesting, including those inside `bash -c`, `xargs`, `find -exec` and substitutions. */
  readonly commands: readonly SimpleCommand[]
  /** Files that its redirections read and write. */
  readonly redirections: FileUses
  /** What cannot be known before it runs, as sentences for a person. */
  readonly unknown: readonly string[]
  /** Parts of the line that a person should look at. */
  readonly unusual: readonly UnusualPart[]
  /** It is in the small language, so the facts hold. Otherwise they only explain, and nothing runs outside of a sandbox because of them. */
  readonly isExact: boolean
  /** It changes nothing: it was read exactly, or it runs in a sandbox. */
  readonly isReadOnly: boolean
  /** Only the sandbox keeps it from changing anything, and from reading more than is known. */
  readonly isConfined: boolean
}

export interface SimpleCommand {
  /** The words as bash would pass them. The first is the program as written. `undefined` is not known before it runs. */
  readonly words: readonly (string | undefined)[]
  /** It changes nothing by itself. What it starts (`timeout 5 rm x`) is a command of its own. */
  readonly isReadOnly: boolean
  /** Files that its words read and write. */
  readonly uses: FileUses
  /** Paths that its words may name, if the command is not understood well enough to say what it does with them. */
  readonly names: readonly string[]
  /** It starts with variables that can change which programs run: `PATH=… npm test`. */
  readonly changesEnvironment: boolean
  /** It only starts the command after it: `timeout 5`, `nice`. A rule for that one covers it. */
  readonly isWrapper?: boolean
  /** It may be started by the command before it: the words after `npx`, `docker exec` or `parallel`. It counts for deny and ask only. */
  readonly isGuess?: boolean
}

export interface FileUses {
  readonly reads: readonly FileUse[]
  readonly writes: readonly FileUse[]
}

export interface FileUse {
  /** Absolute, with symlinks followed. `undefined`: not known before it runs. */
  readonly path: string | undefined
  /** The content of everything below the path too. */
  readonly isTree?: boolean
  /** Below the path it leaves out names that start with a dot. */
  readonly skipsHidden?: boolean
  /** The content of the files below the path that git tracks. */
  readonly tracked?: { readonly top: string; readonly index: string }
  /** Only names in it are looked at, because a pattern is matched there. */
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
  /** Strata's own directory. No command in a sandbox sees it. */
  readonly root: string
  /** Places that need no permission to read, also inside of the root. */
  readonly readable: readonly string[]
}
