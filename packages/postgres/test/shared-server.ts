/**
 * The PostgreSQL server that all test files of a run share: each file has its own databases. Tests that change a server start another one.
 */
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { inject } from "vitest"
import { addressOn, run, type TestServer } from "./server.ts"
import type { SharedAddress } from "./shared-setup.ts"

/** `stop` removes the databases of this file; the server keeps running. */
export type SharedServer = Pick<TestServer, "port" | "url" | "database" | "stop"> & {
  /** Creates a database without the schema and returns its address for the owner. */
  emptyDatabase(): Promise<string>
}

let databases = 0

export async function sharedServer(): Promise<SharedServer> {
  const { port, template } = await askTheRun()
  const url = addressOn(port)
  const made: string[] = []

  async function create(from: string): Promise<string> {
    const name = `strata_${process.pid}_${++databases}`
    made.push(name)
    await run(url(), `create database ${name} template ${from}`)
    return name
  }

  return {
    ...{ port, url },
    database: async () => url(await create(template), "app"),
    emptyDatabase: async () => url(await create("template1")),
    async stop() {
      for (const name of made.splice(0)) await run(url(), `drop database if exists ${name} with (force)`)
    },
  }
}

async function askTheRun(): Promise<SharedAddress> {
  const answer = JSON.parse(await text(connect(inject("postgresPort"), "127.0.0.1"))) as
    | SharedAddress
    | { readonly error: string }
  if ("error" in answer) throw new Error(answer.error)
  return answer
}
