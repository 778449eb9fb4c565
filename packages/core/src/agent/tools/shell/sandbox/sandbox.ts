/** The sandbox of this system, if one works. It is tested once per process by running a command in it. */
import { execFile } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import type { SandboxMode } from "../../../../base/enums.ts"
import { bubblewrapArguments, RUNTIME_DIRECTORIES } from "./bubblewrap.ts"
import { type Enclosure, mountsOf } from "./enclosure.ts"

export type Sandbox =
  | {
      readonly state: "ready"
      readonly name: "bubblewrap" | "sandbox-exec"
      /**
       * Whether each command has its own `/tmp` and its own processes, which end with it. Otherwise it needs a directory for temporary
       * files.
       */
      readonly hasNamespaces: boolean
      /** Command line prefix that runs a program in the sandbox. */
      prefix(enclosure: Enclosure): readonly string[]
    }
  /** `why` is a sentence that explains to the user how to get one. */
  | { readonly state: "missing"; readonly why: string }

type ReadySandbox = Extract<Sandbox, { state: "ready" }>

/** Possible paths of bubblewrap. PATH is not searched, because a project may contain a program with this name. */
const BUBBLEWRAP = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"]
const SANDBOX_EXEC = "/usr/bin/sandbox-exec"
const PROBE_MS = 5_000

let found: Promise<Sandbox> | undefined

export function systemSandbox(): Promise<Sandbox> {
  found ??= detectSandbox()
  return found
}

async function detectSandbox(): Promise<Sandbox> {
  if (process.platform === "linux") {
    const program = BUBBLEWRAP.find(existsSync)
    if (program === undefined) return missing(`To have one: ${installCommand()}`)
    return testSandbox(
      {
        state: "ready",
        name: "bubblewrap",
        hasNamespaces: true,
        prefix: (given) => [program, ...bubblewrapArguments(given)],
      },
      "bubblewrap is installed but does not work here. Allow user namespaces for it; containers and some systems forbid them",
    )
  }
  if (process.platform === "darwin" && existsSync(SANDBOX_EXEC))
    return testSandbox(
      {
        ...{ state: "ready", name: "sandbox-exec", hasNamespaces: false },
        prefix: (given) => [SANDBOX_EXEC, ...sandboxExecArguments(given)],
      },
      "sandbox-exec does not work here. It cannot run inside another sandbox",
    )
  return missing(`Strata knows none for ${process.platform}.`)
}

/** Installation commands by package manager. */
const INSTALLERS: readonly (readonly [program: string, command: string])[] = [
  ["/usr/bin/apt-get", "sudo apt-get install bubblewrap"],
  ["/usr/bin/dnf", "sudo dnf install bubblewrap"],
  ["/usr/bin/pacman", "sudo pacman -S bubblewrap"],
  ["/usr/bin/zypper", "sudo zypper install bubblewrap"],
  ["/sbin/apk", "sudo apk add bubblewrap"],
]
const installCommand = (): string =>
  INSTALLERS.find(([program]) => existsSync(program))?.[1] ?? "install the package bubblewrap."

const missing = (why: string): Sandbox => ({ state: "missing", why })

/** Tests a sandbox by running an empty shell command in it. */
async function testSandbox(sandbox: ReadySandbox, otherwise: string): Promise<Sandbox> {
  const hidden = RUNTIME_DIRECTORIES.hidden
    .filter(existsSync)
    .map((path) => ({ path: realpathSync(path), isDirectory: true }))
  const probe = {
    directory: "/",
    hidden,
    visible: [],
    writable: [],
    hasNetwork: false,
    scratch: realpathSync(tmpdir()),
  }
  const [program, ...args] = [...sandbox.prefix(probe), "/bin/sh", "-c", ":"]
  return new Promise((resolve) => {
    execFile(program!, args, { env: {}, timeout: PROBE_MS }, (error, _, printed) => {
      const message = printed.trim().split("\n")[0] || error?.message.split("\n")[0]
      resolve(error ? missing(`${otherwise} (${message}).`) : sandbox)
    })
  })
}

/** Describes for the user whether there is a sandbox, and what runs in it. */
export function sandboxSentence(mode: SandboxMode, sandbox: Sandbox): string {
  if (sandbox.state === "missing")
    return `This system has no sandbox, so more commands need your approval. ${sandbox.why}`
  if (mode === "off") return `${sandbox.name} is available but not used, because the setting sandbox is "off".`
  const unasked = "Unapproved commands run in it, with read-only files and no network."
  const all = "Approved commands run in it too, and can write only to the project and temporary files."
  return `${sandbox.name}. ${mode === "all" ? `${unasked} ${all}` : unasked}`
}

/**
 * The sandbox on macOS: a profile for `sandbox-exec`. If two rules match, the later one applies. Ways to start a program outside are denied
 * too: events to other programs, jobs, opening files with their programs.
 */
const sandboxExecArguments = (enclosure: Enclosure): readonly string[] => ["-p", profileOf(enclosure)]

export function profileOf(enclosure: Enclosure): string {
  const { scratch, hasNetwork } = enclosure
  const places = mountsOf(enclosure).map((mount) => {
    const place = `(subpath ${quoted(mount.path)})`
    if (mount.how === "hide") return `(deny file-read* file-write* ${place})`
    return mount.how === "show" ? `(allow file-read* ${place})` : `(allow file-read* file-write* ${place})`
  })
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (subpath "/dev/fd"))',
    ...(hasNetwork ? [] : ["(deny network*)"]),
    "(deny appleevent-send)",
    "(deny job-creation)",
    '(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd") (global-name "com.apple.pasteboard.1"))',
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    ...places,
    `(allow file-read* file-write* (subpath ${quoted(scratch)}))`,
    "(allow file-read-metadata)", // programs check each directory of a path
  ].join("\n")
}

const quoted = (path: string): string => `"${path.replace(/[\\"]/g, "\\$&")}"`
