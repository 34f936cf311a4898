// A client made with the SDK of the protocol, which checks each message. It is driven by lines of
// JSON on its standard input, and says on its output what it hears:
//
//   in:  {"do": ID, "method", "params"}   {"tell": METHOD, "params"}   {"answer": ASK, "result"}
//   out: {"done": ID, "result" | "error"}   {"update": {…}}   {"asked": ASK, "params"}
//        {"gone": ASK}   {"over": true}
//
// node sdk_client.mjs SDK PROGRAM [ARGUMENT …]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";

const [sdk, program, ...words] = process.argv.slice(2);
const acp = await import(sdk);
const server = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
const say = (said) => process.stdout.write(JSON.stringify(said) + "\n");
say({ pid: server.pid });

const asks = new Map();
let number = 0;
const stream = acp.ndJsonStream(Writable.toWeb(server.stdin), Readable.toWeb(server.stdout));
const client = acp
  .client({ name: "test" })
  .onNotification(acp.methods.client.session.update, ({ params }) => say({ update: params }))
  .onRequest(acp.methods.client.session.requestPermission, (request) =>
    ask(request, { outcome: { outcome: "cancelled" } }),
  )
  .onRequest(acp.methods.client.elicitation.create, (request) => ask(request, { action: "cancel" }));

function ask({ params, signal }, cancelled) {
  const ask = ++number;
  say({ asked: ask, params });
  return new Promise((answer) => {
    asks.set(ask, answer);
    signal.addEventListener("abort", () => {
      say({ gone: ask });
      answer(cancelled);
    });
  });
}

await client.connectWith(stream, async (server) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const said = JSON.parse(line);
    if (said.answer) asks.get(said.answer)(said.result);
    else if (said.tell) await server.notify(said.tell, said.params);
    else
      server.request(said.method, said.params).then(
        (result) => say({ done: said.do, result }),
        (error) => say({ done: said.do, error: { code: error.code, message: error.message } }),
      );
  }
});
say({ over: true });
process.exit(0);
