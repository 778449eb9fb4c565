import { execFileSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { localUser, openConversation } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import pg from "pg"
import { describe, expect, onTestFinished, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { migrate, postgresStore } from "../src/index.ts"
import { oldestPrograms, startServer } from "./server.ts"

const programs = oldestPrograms()

/** `pg_dump` is not among the programs from npm. */
describe("BEY-12 a backup", needs("postgres15"), () => {
  test("what is dumped while a conversation continues is restored into another database, and continues there", async () => {
    const server = await startServer({ programs: programs! })
    onTestFinished(() => server.stop())
    const url = await server.database()
    const opened = (connectionString: string) => {
      const store = postgresStore({ connectionString })
      onTestFinished(() => store.close())
      return openConversation({
        ...{ store, id: "c", project: "shop", model: "claude-opus-5-5", env: {} },
        memory: { owner: localUser },
      })
    }
    const chat = await opened(url)
    await chat.add("The port is 8080.")
    const dump = join(tmpdir(), `strata-${server.port}.dump`)
    const run = (program: string, ...args: readonly string[]) =>
      execFileSync(join(programs!, program), args, { stdio: "pipe" })
    run("pg_dump", "--format=custom", "--schema=strata", `--file=${dump}`, server.url("strata_1"))
    await chat.add("After the backup.")
    await chat.close()

    const owner = new pg.Client({ connectionString: server.url() })
    await owner.connect()
    onTestFinished(() => owner.end())
    await owner.query("create database restored")
    run("pg_restore", "--exit-on-error", `--dbname=${server.url("restored")}`, dump)
    await migrate({ connectionString: server.url("restored") }) // same version: no steps to run, and the privileges are set again

    // the process that had it open during the dump no longer exists: its lease has ended
    const restored = new pg.Client({ connectionString: server.url("restored") })
    await restored.connect()
    await restored.query("update strata.holder set until = now() - interval '1 second'")
    await restored.end()
    const again = await opened(server.url("restored", "app"))
    expect(JSON.stringify(internalsOf(again).views.context.messages().messages)).toContain("The port is 8080.")
    expect(JSON.stringify(internalsOf(again).views.context.messages().messages)).not.toContain("After the backup.")
    await again.add("It goes on.")
    await again.close()
  })
})
