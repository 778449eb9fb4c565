/** Whether a name is the program of this name that the judge knows: a builtin of bash, or a file that only the person or root can change. */
import { posix } from "node:path"
import type { Place } from "./judged.ts"
import type { Invocation } from "./outcome.ts"

/** A program called by its path is the known one only here, or in a directory of PATH that counts. */
const SYSTEM_DIRECTORIES = new Set(["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"])

/** bash does not look for these in PATH, unless another program starts them. */
const BUILTINS = new Set(
  `. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit
  export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set
  shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`.split(/\s+/),
)
/** Files of version managers that run under the name of a program and let the project decide its version: asdf, mise, pyenv, volta. */
const SHIM = /\/shims\/|\/\.?(?:volta|proto)\/|\/(?:mise|asdf|rtx|aqua|aqua-proxy|proto|volta-shim|vfox|pkgx|devbox)$/

/** They say where the programs are that their words name. */
const LOOKUPS = new Set(["which", "type", "command"])

export function isKnownByPath(name: string, { programs }: Place): boolean {
  if (!name.includes("/")) return true
  const directory = posix.dirname(name)
  return SYSTEM_DIRECTORIES.has(directory) || (programs?.directories.includes(directory) ?? false)
}

/** A sentence, if the name leads to a file that is not the known program. */
export function otherProgram(name: string, { fields, place, isStarted }: Invocation): string | undefined {
  const { programs, directory, env } = place
  if (env[`BASH_FUNC_${name}%%`] !== undefined) return `${name} is a function of the environment.`
  if (!programs) return undefined
  const named = LOOKUPS.has(name)
    ? fields.slice(1).flatMap(({ text }) => (text?.includes("/") ? [] : (text ?? [])))
    : []
  const searched = BUILTINS.has(name) && !isStarted ? named : [name, ...named]
  for (const program of searched) {
    const found = programs.resolve(program, directory)
    if (found.state === "not trusted") return `${program} would be ${found.file}: ${found.why}.`
    if (found.state === "trusted" && SHIM.test(found.file))
      return `${program} is ${found.file}, which lets the project say what runs.`
  }
  return undefined
}
