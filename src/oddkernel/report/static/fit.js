// Fit: what the learning did, in words, numbers and two charts.

function startFit() {
  const { notes, history, spectrum, numbers, settings, held_out: held } = data.fit;
  find("notes").append(
    ...notes.map(({ tone, title, meaning, advice }) =>
      make("li", { class: tone }, make("h3", {}, title), make("p", { class: "soft" }, meaning), advice && make("p", { class: "next" }, advice)),
    ),
  );
  const steps = (history.residual ?? []).map((residual, i) => [i, residual, history.divergence?.[i] ?? ""]);
  if (steps.length > 1) {
    find("fit-charts").append(
      make("div", { class: "card" },
        chart("Convergence",
          "The residual, the largest relative error in a condition of the optimum, after each pass. It should fall until it is small.",
          lines([{ name: "residual", values: history.residual, colour: "var(--accent)" }], { title: "Residual after each pass", xWords: "pass" }),
          ["Pass", "Residual", "Divergence"], steps)),
    );
  }
  find("fit-charts").append(
    make("div", { class: "card" },
      chart("Spectrum of the kernel",
        "The eigenvalues of the centred kernel, largest first: how much items differ in each direction. Learning stretches the directions that the answers are about.",
        lines([
          { name: "before", values: spectrum.before, colour: "var(--soft)", dash: "5 4" },
          { name: "after", values: spectrum.after, colour: "var(--accent)" },
        ], { title: "Eigenvalues of the centred kernel, before and after", xWords: "direction" }),
        ["Direction", "Before", "After"], spectrum.before.map((value, i) => [i, value, spectrum.after[i]]))),
  );
  const facts = [
    ["How solving ended", numbers.status],
    ["Passes", numbers.passes],
    ["Residual: the largest relative error in a condition of the optimum", numbers.residual],
    ["Gap between primal and dual objective", numbers.gap],
    ["Divergence: how far the kernel moved", numbers.divergence],
    ["Constraints from the answers", grouped(numbers.rows)],
    ["… that influence the kernel", grouped(numbers.active)],
    ["… that are violated", grouped(numbers.violated)],
    ["Largest slack: the largest violation of a constraint, in squared distance", numbers.slack],
    ["Dimensions of the initial kernel used", `${numbers.rank} of ${numbers.full_rank}, ${percent(numbers.share)} of its trace`],
    ...(held ? [[`Agreement with held-out answers (${grouped(held.n)}; ${held.how})`, `${percent(held.before)} before, ${percent(held.after)} after`]] : []),
  ];
  whenOpen(find("settings"), () =>
    make("div", { class: "pair" },
      table(["Number", "Value"], facts.map(([name, value]) => [name, value ?? "not finite"])),
      table(["Setting", "Value"], Object.entries(settings).map(([name, value]) => [name.endsWith("_") ? `${name.slice(0, -1)} that was used` : name, value]))),
  );
}
