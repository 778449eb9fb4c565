/** Commands that start another command: `timeout 5 rm x`, `sudo rm x`, `bash -c 'rm x'`. What they start is judged as a command of its own. */
import type { Field } from "./fields.ts"
import { type GivenOption, type OptionTable, takeApart } from "./options.ts"

export type Wrapped =
  | {
      readonly state: "command"
      readonly words: readonly Field[]
      /** It adds nothing that rules or a person must know. */
      readonly isTransparent: boolean
      /** Words from standard input or elsewhere follow. */
      readonly isOpen?: boolean
      readonly options: readonly GivenOption[]
    }
  /** A script. `undefined`: not known before it runs. */
  | { readonly state: "script"; readonly script: string | undefined }
  /** A shell that runs what it gets on standard input. */
  | { readonly state: "input" }
  /** No command in it. */
  | { readonly state: "none" }
  | { readonly state: "not understood" }

interface Wrapper extends OptionTable {
  readonly isTransparent?: boolean
  /** Words before the command: the duration of `timeout`. */
  readonly skips?: number
  /** Options that make it print instead: `command -v`. */
  readonly prints?: readonly string[]
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: { isTransparent: true },
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
  unbuffer: { short: "p", isTransparent: true },
  unshare: { short: "muinpUrfc", long: "mount uts ipc net pid user map-root-user fork" },
  valgrind: { long: "leak-check: track-origins: error-exitcode: quiet" },
  watch: { short: "bcdegtx n:", long: "beep color differences? errexit chgexit interval: no-title exec precise" },
}

const SHELLS = new Set("bash sh dash zsh ksh ash mksh rbash".split(" "))
/** What may start any of its words, in ways that are not taken apart. */
const RUNNERS = new Set(
  `busybox toybox parallel entr hyperfine perf gdb script expect runuser su setpriv systemd-run taskset numactl prlimit setarch faketime
  rlwrap direnv dotenv dotenvx cross-env npx bunx uvx pipx npm pnpm yarn bun uv poetry pipenv bundle docker podman kubectl ssh torsocks
  proxychains xvfb-run firejail chronic ts git make env-cmd nix nix-shell mise asdf conda corepack trap fish`.split(
    /\s+/,
  ),
)

export const isRunner = (name: string): boolean => RUNNERS.has(name)
export const isShell = (name: string): boolean => SHELLS.has(name)

export function unwrap(name: string, args: readonly Field[]): Wrapped {
  if (name === "eval") return { state: "script", script: joined(args) }
  if (name === "xargs") return xargs(args)
  if (SHELLS.has(name)) return shell(args)
  if (name === "su" || name === "script" || name === "runuser") return byOption(args, "-c", "--command")
  if (!Object.hasOwn(WRAPPERS, name)) return { state: "none" }
  const wrapper = WRAPPERS[name]!
  const taken = takeApart({ ...wrapper, stops: true }, args)
  if (taken.state === "not understood") return { state: "not understood" }
  const { options, operands } = taken
  if (options.some((option) => wrapper.prints?.includes(option.name))) return { state: "none" }
  const words = operands.slice(wrapper.skips ?? 0)
  if (words.length === 0) return name === "exec" || name === "builtin" ? { state: "none" } : { state: "not understood" }
  if (name === "watch" && !options.some((option) => option.name === "x" || option.name === "exec"))
    return { state: "script", script: joined(words) }
  return { state: "command", words, isTransparent: wrapper.isTransparent ?? false, options }
}

const joined = (words: readonly Field[]): string | undefined =>
  words.every(({ text }) => text !== undefined) ? words.map(({ text }) => text).join(" ") : undefined

function byOption(args: readonly Field[], ...names: readonly string[]): Wrapped {
  const at = args.findIndex(({ text }) => names.includes(text ?? ""))
  if (at < 0) return { state: "none" }
  return { state: "script", script: args[at + 1]?.text }
}

/** `bash -c script`, `bash file` or `bash` with a script on standard input. */
function shell(args: readonly Field[]): Wrapped {
  const rest = [...args]
  let isScript = false
  for (let word = rest[0]; word; word = rest[0]) {
    const { text } = word
    if (text === undefined) return { state: "script", script: undefined }
    if (text === "-" || text === "--") {
      rest.shift()
      break
    }
    if (!/^[-+]/.test(text)) break
    rest.shift()
    if (text === "--version" || text === "--help") return { state: "none" }
    if (text.startsWith("--") && !/^--(?:noprofile|norc|posix|login)$/.test(text)) return { state: "not understood" }
    if (text.startsWith("--")) continue
    if (text.includes("i")) return { state: "not understood" } // an interactive shell runs a start file
    if (text.startsWith("-") && text.includes("c")) isScript = true
    if (/o$/i.test(text)) rest.shift()
  }
  if (isScript) return { state: "script", script: rest[0]?.text }
  return rest.length === 0 || rest[0]?.text === "/dev/stdin" ? { state: "input" } : { state: "none" }
}

const XARGS: OptionTable = {
  short: "0rtpx d: E: I: L: n: P: s: i? l? e?",
  long: `null delimiter: eof? replace? max-lines? max-args: max-procs: interactive no-run-if-empty max-chars: verbose exit show-limits`,
  stops: true,
}

const ADDING = new Set("I i replace L l max-lines n max-args".split(" "))

function xargs(args: readonly Field[]): Wrapped {
  const taken = takeApart(XARGS, args)
  if (taken.state === "not understood") return { state: "not understood" }
  const { options, operands } = taken
  // of several options that say how words are added, the last one counts
  if (options.filter(({ name }) => ADDING.has(name)).length > 1) return { state: "not understood" }
  const words = operands.length === 0 ? [{ text: "echo" }] : operands
  return { state: "command", words, isTransparent: true, isOpen: true, options }
}
