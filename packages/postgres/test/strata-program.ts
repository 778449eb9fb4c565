/** The bundled program `strata`, which starts in a third of the time of its sources. */
import { join } from "node:path"
import { inject } from "vitest"

export const STRATA = join(inject("bundle"), "cli", "dist", "main.js")

/** Environment of every `strata` process: the search path of programs, and the compile cache. */
export const PROGRAM_ENV = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
