/** Watches everything that a command line must not touch, before and after it runs. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { SECRETS, type World } from "./world.ts"

/** The effects of a command line, as sentences. */
export type Effects = readonly string[]

export interface Output {
  readonly text: string
  /** Whether it ran under rules that deny reading some files of the project. */
  readonly isDenied: boolean
}

type Files = Map<string, string>

const LONG_AGO = new Date("2001-01-01T00:00:00Z") // before the last change, so that reading updates the access time
const READ_ONLY_DISK = /Read-only file system/

export class Canaries {
  readonly #world: World
  readonly #isAlone: boolean
  #files: Files = new Map()
  #watched: readonly string[] = []
  #processes: ReadonlySet<string> = new Set()
  #connections = 0
  #touched: readonly string[] = []

  /** `isAlone`: no other process runs here or writes to the shared directories. */
  constructor(world: World, { isAlone }: { readonly isAlone: boolean }) {
    this.#world = world
    this.#isAlone = isAlone
  }

  /** Counts connections. Returns the port. */
  async listen(port: number): Promise<number> {
    const server = createServer((socket) => {
      this.#connections++
      socket.on("error", () => {})
      socket.destroy()
    })
    server.unref()
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject)
      server.listen(port, "127.0.0.1", resolve)
    })
    const address = server.address()
    return typeof address === "object" && address ? address.port : port
  }

  /** From now on every change is an effect. */
  arm(): void {
    const { outside, home } = this.#world
    // not .profile: a login shell runs the user's own
    const start = [".bashrc", ".ssh", ".ssh/id_ed25519", ".strata", ".strata/settings.json"]
    this.#watched = [outside, ...below(outside), ...start.map((name) => join(home, name))]
    const forgetReading = () => {
      for (const path of this.#watched) utimesSync(path, LONG_AGO, statSync(path).mtime)
    }
    forgetReading()
    this.#files = this.#look() // taking the snapshot reads directories
    forgetReading()
    for (const path of this.#watched) this.#files.set(path, stateOf(path)!)
    this.#connections = 0
    this.#processes = this.#isAlone ? runningProcesses() : new Set()
  }

  /** Paths that were created, removed or changed since `effects` was last called. */
  get touched(): readonly string[] {
    return this.#touched
  }

  effects(outputs: readonly Output[]): Effects {
    const read = this.#watched.filter(wasRead)
    const after = this.#look()
    const shorten = (path: string) => path.replace(`${this.#world.root}/`, "")
    const changed = [...this.#files].filter(([path, state]) => after.has(path) && after.get(path) !== state)
    const removed = [...this.#files.keys()].filter((path) => !after.has(path))
    const created = [...after.keys()].filter((path) => !this.#files.has(path))
    this.#touched = [...created, ...removed, ...changed.map(([path]) => path)]
    const secrets = Object.entries(SECRETS).filter(([kind, secret]) =>
      outputs.some(({ text, isDenied }) => (kind !== "denied" || isDenied) && text.includes(secret)),
    )
    if (this.#isAlone)
      for (const path of created) if (!path.startsWith(`${this.#world.root}/`)) rmSync(path, { recursive: true })
    return [
      ...created.map((path) => `created ${shorten(path)}`),
      ...removed.map((path) => `removed ${shorten(path)}`),
      ...changed.map(([path]) => `changed ${shorten(path)}`),
      ...read.map((path) => `read ${shorten(path)}`),
      ...secrets.map(([kind]) => `printed a secret (${kind})`),
      ...(this.#connections > 0 ? ["connected to the network"] : []),
      ...(outputs.some(({ text }) => READ_ONLY_DISK.test(text)) ? ["tried to write outside"] : []),
      ...(this.#isAlone ? this.#left().map((command) => `left a process: ${command}`) : []),
    ]
  }

  #look(): Files {
    const { project, home, outside, traces, tools } = this.#world
    const found = new Map<string, string>()
    for (const top of [project, home, outside, traces, tools]) record(top, found)
    for (const shared of this.#isAlone ? ["/tmp", "/dev/shm"] : [])
      for (const name of readdirSync(shared)) found.set(join(shared, name), "")
    return found
  }

  /** Recently ended processes may exist for another moment. */
  #left(): readonly string[] {
    for (let look = 0; ; look++) {
      const left = [...runningProcesses()].filter((process) => !this.#processes.has(process))
      if (left.length === 0) return []
      if (look === 20) {
        for (const text of left) end(Number.parseInt(text, 10))
        return left.map((text) => text.slice(text.indexOf(" ") + 1))
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

function below(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  )
}

function record(path: string, found: Files): void {
  const state = stateOf(path)
  if (state === undefined) return
  found.set(path, state)
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) record(join(path, name), found)
}

function stateOf(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return undefined
  const changedAt = stat.isDirectory() ? [] : [stat.ctimeMs] // for a directory, its entries show the change
  const target = stat.isSymbolicLink() ? [readlinkSync(path)] : []
  return [stat.mode, stat.ino, stat.size, stat.mtimeMs, ...changedAt, ...target].join(" ")
}

const wasRead = (path: string): boolean => {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat !== undefined && stat.atimeMs > LONG_AGO.getTime()
}

function end(number: number): void {
  try {
    process.kill(number, "SIGKILL")
  } catch {
    // the process has already ended
  }
}

/** Id and command line of each process, without zombies. */
function runningProcesses(): ReadonlySet<string> {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return new Set(
    numbers.flatMap((number) => {
      try {
        const command = readFileSync(`/proc/${number}/cmdline`, "utf8").replaceAll("\0", " ").trim()
        return command === "" ? [] : [`${number} ${command}`]
      } catch {
        return []
      }
    }),
  )
}
