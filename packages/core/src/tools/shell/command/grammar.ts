/** Which shell reads a script. The parser reads bash, so what another shell may read otherwise is not known. */
import { isInPosixCore } from "./posix-core.ts"

/** `posix`: dash, busybox, ksh or zsh, which read alike only a core. `other`: nothing is known, as of fish. */
export type Grammar = "bash" | "posix" | "other"

const SHELLS: Readonly<Record<string, Grammar>> = {
  ...grammars("bash", "bash"),
  ...grammars("sh dash ash hush ksh ksh93 mksh lksh oksh loksh pdksh yash posh bosh zsh", "posix"),
  ...grammars("rbash rksh rzsh", "other"), // restricted: `cd` fails there
  ...grammars("fish csh tcsh elvish nu xonsh pwsh rc es osh ysh", "other"),
}

function grammars(names: string, grammar: Grammar): Record<string, Grammar> {
  return Object.fromEntries(names.split(" ").map((name) => [name, grammar]))
}

/** `undefined`: it is no shell. */
export const grammarOf = (program: string): Grammar | undefined =>
  Object.hasOwn(SHELLS, program) ? SHELLS[program] : undefined

/** In the environment these change how bash reads a line. */
const CHANGES_BASH = ["POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS", "GLOBIGNORE"]

/** The grammar of the shell that runs a whole line. */
export function lineGrammar(
  shell: string | undefined,
  env: Readonly<Record<string, string | undefined>> = {},
): Grammar {
  const grammar = shell === undefined ? "bash" : (grammarOf(shell.slice(shell.lastIndexOf("/") + 1)) ?? "other")
  return grammar === "bash" && CHANGES_BASH.some((name) => env[name] !== undefined) ? "posix" : grammar
}

/** Why a script may mean something else than what the parser finds in it. */
export function uncertaintyOf(script: string, grammar: Grammar): string | undefined {
  if (grammar === "other") return "It is a script for a shell whose grammar is not known."
  if (grammar === "bash" || isInPosixCore(script)) return undefined
  return "It is a script for a shell that is not bash, and not every shell reads it the same way."
}
