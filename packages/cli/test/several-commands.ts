/** A program for tests: runs several commands of `strata` in one process, and prints how each ended. */
import { strataHere } from "./strata-here.ts"

const commands = JSON.parse(process.argv[2]!) as { readonly args: readonly string[]; readonly env: object }[]
const [cwd, own] = [process.cwd(), process.env as Record<string, string>]
const ended = []
for (const { args, env } of commands) ended.push(await strataHere(args, { cwd, env: { ...own, ...env } }))
process.stdout.write(JSON.stringify(ended))
