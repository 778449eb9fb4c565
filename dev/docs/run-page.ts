/**
 * Runs programs of one page one after another in this process, so that the library loads once. Each gets its own simulator. The process
 * must end by itself afterwards, so a program that leaves something open fails. `node run-page.ts RESULTS [FILE URL]…` writes what each
 * program printed, and whether it failed.
 */
import { writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { inspect } from "node:util"

export interface ProgramResult {
  readonly exitCode: number
  readonly output: string
}

const [results, ...programs] = process.argv.slice(2)
const ran: ProgramResult[] = []
const printed = { stdout: "", stderr: "" }
for (const name of ["stdout", "stderr"] as const)
  process[name].write = ((piece: string | Uint8Array) => {
    printed[name] += typeof piece === "string" ? piece : Buffer.from(piece).toString()
    return true
  }) as NodeJS.WriteStream["write"]

for (let at = 0; at < programs.length; at += 2) {
  Object.assign(printed, { stdout: "", stderr: "" })
  process.env.ANTHROPIC_BASE_URL = programs[at + 1]!
  const problem = await import(pathToFileURL(programs[at]!).href).then(
    () => "",
    (error: unknown) => inspect(error),
  )
  ran.push({ exitCode: problem === "" ? 0 : 1, output: printed.stdout + printed.stderr + problem })
  writeFileSync(results!, JSON.stringify(ran))
}
