// Counts words, and shows what the sandbox refuses.
const fs = require("node:fs");
const path = require("node:path");

const { text } = JSON.parse(process.env.INPUT_JSON);

function refused(work) {
  try {
    work();
    return false;
  } catch {
    return true;
  }
}

const own = path.join(process.env.SKILL_PATH, "SKILL.md");
console.log(
  JSON.stringify({
    words: text.split(/\s+/).filter(Boolean).length,
    writesItsFolder: !refused(() => fs.appendFileSync(own, "changed")),
    readsUsers: !refused(() => fs.readFileSync("/etc/shadow")),
    listsTheRoot: !refused(() => fs.readdirSync("/")),
  }),
);
