/** Commands that start another command: `timeout 5 rm x`, `sudo rm x`, `bash -c 'rm x'`. The started command is analyzed separately. */
import type { ExpandedWord } from "./expanded-word.ts"

import { type OptionTable, parseOptions } from "./options.ts"

export type WrappedCommand =
  | {
      readonly state: "command"
      readonly words: readonly ExpandedWord[]
      /** Whether the wrapper itself is irrelevant for rules and the user. */
      readonly isTransparent: boolean
    }
  /** `script` is `undefined` if it is unknown before the command runs. */
  | {
      readonly state: "script"
      readonly script: string | undefined
      readonly isTransparent: boolean
      /** Whether the shell may interpret the script differently from bash, which the parser supports. */
      readonly isOtherShell?: boolean
    }
  /** Not a wrapper, or one without a command. */
  | { readonly state: "none" }
  | { readonly state: "not understood" }

const SHELLS = new Set("bash sh dash ash hush ksh ksh93 mksh lksh oksh loksh pdksh yash posh bosh zsh".split(" "))
/** Commands after which program names may mean anything. */
const CHANGES_NAMES = new Set(["alias", "enable", "shopt", "hash"])
/** Shells with a syntax other than bash. */
const OTHER_SHELLS = new Set("rbash rksh rzsh fish csh tcsh elvish nu xonsh pwsh rc es osh ysh".split(" "))

interface Wrapper extends OptionTable {
  readonly isTransparent?: boolean
  /** Number of operands before the command: the duration of `timeout`. */
  readonly skips?: number
  /** Options that make it print information instead: `command -v`. */
  readonly prints?: readonly string[]
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: { isTransparent: true },
  busybox: {},
  caffeinate: { short: "disum t: w:", isTransparent: true },
  chroot: { long: "groups: userspec: skip-chdir", skips: 1 },
  chrt: { short: "abfior p:", skips: 1 },
  command: { short: "pvV", isTransparent: true, prints: ["v", "V"] },
  doas: { short: "nsL u: C: a:" },
  exec: { short: "cl a:", isTransparent: true },
  flock: { short: "seunox w: E:", long: "shared exclusive nonblock timeout: close", skips: 1 },
  ionice: { short: "t c: n:", isTransparent: true },
  ltrace: { short: "cCfhiLrStTV a: A: D: e: F: l: n: o> p: s: u: w: x:" },
  nice: { short: "n:", long: "adjustment:", numbers: true, isTransparent: true },
  nohup: {},
  setsid: { short: "cfw", long: "ctty fork wait" },
  stdbuf: { short: "i: o: e:", long: "input: output: error:", isTransparent: true },
  strace: { short: "cCdfFhiqrtTvVxyDkYz a: b: e: E: I: o> O: p: P: s: S: u: X: U:" },
  sudo: {
    short: "ABbEeHknPSsVvKi C: D: g: h: p: R: r: t: T: U: u:",
    long: "askpass background preserve-env? set-home non-interactive stdin login shell user: group: host: prompt: chdir: chroot:",
  },
  time: { short: "pvql f:", long: "portability verbose quiet format:", isTransparent: true },
  timeout: {
    short: "vfp k: s:",
    long: "kill-after: signal: preserve-status foreground verbose",
    skips: 1,
    isTransparent: true,
  },
  toybox: {},
  unbuffer: { short: "p", isTransparent: true },
  unshare: { short: "muinpUrfc", long: "mount uts ipc net pid user map-root-user fork" },
  valgrind: { long: "leak-check: track-origins: error-exitcode: quiet" },
  watch: { short: "bcdegtx n:", long: "beep color differences? errexit chgexit interval: no-title exec precise" },
}

/** Programs that may start any of their arguments, and whose syntax is not analyzed. */
const RUNNERS = new Set(
  `parallel entr hyperfine perf gdb script expect runuser su setpriv systemd-run taskset numactl prlimit setarch faketime
  rlwrap direnv dotenv dotenvx cross-env npx bunx uvx pipx npm pnpm yarn bun uv poetry pipenv bundle docker podman kubectl ssh torsocks
  proxychains xvfb-run firejail chronic ts git make env-cmd nix nix-shell mise asdf conda corepack`.split(/\s+/),
)

export const isRunner = (name: string): boolean => RUNNERS.has(name)

export function unwrap(name: string, args: readonly ExpandedWord[]): WrappedCommand {
  if (name === "eval") return { state: "script", script: joined(args), isTransparent: true }
  if (name === "trap" && args.length > 1) return { state: "script", script: args[0]!.text, isTransparent: false }
  if (CHANGES_NAMES.has(name) && args.length > 0) return UNKNOWN_SCRIPT
  if (name === "xargs") return xargs(args)
  if (name === "env") return env(args)
  if (SHELLS.has(name) || OTHER_SHELLS.has(name)) return shell(name, args)
  if (name === "su" || name === "script" || name === "runuser") return byOption(args)
  if (!Object.hasOwn(WRAPPERS, name)) return { state: "none" }
  const wrapper = WRAPPERS[name]!
  const taken = parseOptions({ ...wrapper, stops: true }, args)
  if (taken.state === "not understood") return { state: "not understood" }
  const { options, operands } = taken
  if (options.some((option) => wrapper.prints?.includes(option.name))) return { state: "none" }
  const words = operands.slice(wrapper.skips ?? 0)
  if (words.length === 0) return name === "exec" || name === "builtin" ? { state: "none" } : { state: "not understood" }
  if (name === "watch" && !options.some((option) => option.name === "x" || option.name === "exec"))
    return { state: "script", script: joined(words), isTransparent: true, isOtherShell: true }
  if (name === "flock" && SCRIPT_FOLLOWS.has(words[0]?.text ?? "")) return byOption(words)
  return { state: "command", words, isTransparent: wrapper.isTransparent ?? false }
}

const joined = (words: readonly ExpandedWord[]): string | undefined =>
  words.every(({ text }) => text !== undefined) ? words.map(({ text }) => text).join(" ") : undefined

const SCRIPT_FOLLOWS = new Set(["-c", "--command"])

function byOption(args: readonly ExpandedWord[]): WrappedCommand {
  const at = args.findIndex(({ text }) => SCRIPT_FOLLOWS.has(text ?? ""))
  if (at < 0) return { state: "none" }
  return { state: "script", script: args[at + 1]?.text, isTransparent: false, isOtherShell: true }
}

/**
 * Analyzes a shell: only `bash -c script`. Any other form runs a file, its input, or a script with options that change its interpretation.
 */
function shell(name: string, args: readonly ExpandedWord[]): WrappedCommand {
  if (args.length === 1 && /^--(?:version|help)$/.test(args[0]!.text ?? "")) return { state: "none" }
  const rest = args.map(({ text }) => text ?? "")
  while (
    /^-[elu]+$|^--(?:noprofile|norc|login)$/.test(rest[0] ?? "") ||
    /^-[elu]*o (?:pipefail|errexit|nounset)$/.test(rest.slice(0, 2).join(" "))
  )
    rest.splice(0, rest[0]!.endsWith("o") && !rest[0]!.startsWith("--") ? 2 : 1)
  const script = args.at(args.length - rest.length + 1)?.text
  if (!/^-[elu]*c$/.test(rest[0] ?? "") || script === undefined || OTHER_SHELLS.has(name)) return UNKNOWN_SCRIPT
  return { state: "script", script, isTransparent: true, ...(name === "bash" ? {} : { isOtherShell: true }) }
}

const UNKNOWN_SCRIPT: WrappedCommand = { state: "script", script: undefined, isTransparent: false }

const XARGS: OptionTable = {
  short: "0rtpx d: E: I: L: n: P: s: i? l? e?",
  long: `null delimiter: eof? replace? max-lines? max-args: max-procs: interactive no-run-if-empty max-chars: verbose exit show-limits`,
  stops: true,
}

/** Analyzes `xargs`. Arguments from its input are unknown before it runs, may be several, and are appended or replace a placeholder. */
function xargs(args: readonly ExpandedWord[]): WrappedCommand {
  const taken = parseOptions(XARGS, args)
  if (taken.state === "not understood") return { state: "not understood" }
  const { operands, options } = taken
  const replacing = options.findLast(({ name }) => name === "I" || name === "i" || name === "replace")
  const mark = replacing && (replacing.value?.text ?? "{}")
  const isOpen = ({ text }: ExpandedWord) => mark !== undefined && (text?.includes(mark) ?? false)
  const given = operands.length === 0 ? [{ text: "echo" }] : operands
  const words = given.map((field) => (isOpen(field) ? { text: undefined } : field))
  return { state: "command", words: [...words, { text: undefined }, { text: undefined }], isTransparent: true }
}

/** Analyzes `env [NAME=value …] program`. Options are not supported. */
function env(args: readonly ExpandedWord[]): WrappedCommand {
  const at = args.findIndex(({ text }) => text === undefined || !/^[A-Za-z_]\w*=/.test(text))
  if (at < 0 || args[at]!.text?.startsWith("-")) return { state: "not understood" }
  return { state: "command", words: args.slice(at), isTransparent: at === 0 }
}
