/** What this machine has to offer: a Node that runs Strata, a port on loopback, and a disk to keep journals on. */
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdir, rm, statfs, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { strataDirectory } from "@strata/core"
import { sandboxSentence, systemSandbox } from "@strata/core/agent"
import type { Call } from "../command.ts"
import { nodeProblem } from "../node-version.ts"
import { type Check, ok, problem, reasonOf } from "./check.ts"

const LEAST_FREE = 500_000_000 // bytes; a day of long conversations
const GIGABYTE = 1e9

export function checkNode(): Check {
  const wrong = nodeProblem(process.versions.node)
  return wrong === undefined ? ok("Node", process.versions.node) : problem("Node", wrong)
}

/** Strata works without one, so a missing one is no problem. */
export async function checkSandbox(): Promise<Check> {
  return ok("sandbox", sandboxSentence("unasked", await systemSandbox()))
}

export async function checkPort(port = 0): Promise<Check> {
  const server = createServer()
  server.listen(port, "127.0.0.1")
  try {
    await once(server, "listening")
    return ok("port", port === 0 ? "this machine can be listened on" : `${port} is free`)
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? "another program uses it" : reasonOf(error)
    return problem("port", `${port} cannot be used: ${why}. Choose another with --port, or leave it out.`)
  } finally {
    server.close()
  }
}

export async function checkDisk(env: Call["env"]): Promise<Check> {
  const directory = strataDirectory(env)
  const probe = join(directory, `.doctor-${randomUUID()}`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeFile(probe, "", { mode: 0o600, flag: "wx" })
    const { bavail, bsize } = await statfs(directory)
    const free = `${((bavail * bsize) / GIGABYTE).toFixed(1)} GB free in ${directory}`
    return bavail * bsize < LEAST_FREE ? problem("disk", `Only ${free}. Make room for journals.`) : ok("disk", free)
  } catch (error) {
    return problem("disk", `${directory} cannot be written: ${reasonOf(error)}. Mend it, or set STRATA_HOME.`)
  } finally {
    await rm(probe, { force: true }).catch(() => {})
  }
}
