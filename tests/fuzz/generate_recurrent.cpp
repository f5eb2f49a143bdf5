// Recurrent functions by templates (templates.h), and gradients through their loops, asked for in all ways. The program
// itself compares the compiled function with the function, and prints where they differ.
#include "generate.h"
#include "templates.h"

namespace tsc::fuzz {
namespace {

// e: a tensor of 2 x 4; r: one without axes; m: a 4 x 4 weight; H: variables of 2 x 4. Of the name `t` stands the
// turn's number.
// clang-format off
const std::map<char, Templates> kExpressions = {
    {'e',
     {"{H}", "{H}", "row", "torch.tanh({e})", "({e} + {e})", "({e} @ {m})", "({e} * {e})", "({e} + b)", "({e} * 0.5)", "torch.sigmoid({e})",
      "({e} - {e})", "F.relu({e})", "torch.where({e} > 0, {e}, {e})", "torch.cat([{e}[:, :2], {e}[:, 2:]], 1)", "F.layer_norm({e}, (4,))",
      "F.softmax({e}, -1)", "{e}.detach()", "({e}.sum(1, keepdim=True) * {e})", "({e} * {r})", "F.linear({e}, {m}, b)", "{e}.flip(1)", "{e}.clone()",
      "torch.stack([{e}, {e}]).sum(0)", "{e}.chunk(2)[0].expand(2, 4)", "({e} * (t + 1))", "({e} / (1 + {e} * {e}))", "{e}.clamp(-0.5, 0.5)",
      "F.linear({e}, w[:, :4])", "torch.einsum('bi,ij->bj', {e}, {m})", "{e}.reshape(-1, 4)", "{e}.view(x.shape[1], -1)", "x[t]", "y[t]",
      "F.gelu({e})", "{e}.t().t()", "torch.maximum({e}, {e})", "torch.exp(-{e} * {e})", "F.pad({e}[:, 1:], (1, 0))", "({e}[:, :2] @ {m}[:2])",
      "({e} @ (u * 0.5))", "torch.addmm(b, {e}, {m})", "{e}.roll(1, 0)", "torch.outer({e}[:, 0], b)", "x[-1]", "x[0]", "u[:2]", "{e}.abs().sqrt()"}},
    {'r', {"{e}.mean()", "{e}.sum()", "b[0]", "b.sum()", "{e}[0, 0]", "u.mean()"}},
    {'m', {"w", "w", "u", "(w * 0.5)", "w.t()", "(w + u)", "(u @ w)"}},
    {'l', {"h.sum()", "c.mean()", "{e}.sum()", "(torch.stack(out) ** 2).mean()", "torch.cat(out).sum()", "out[-1].sum()", "out[0].mean()", "(w * w).sum()",
           "torch.stack(out, 1)[:, -1].sum()", "torch.stack(out)[::2].sum()", "sum([o.mean() for o in out])", "torch.cat(out, 1).amax()"}},
    {'R', {"for t, row in enumerate(x):", "for t in range(len(x)):\n    row = x[t]", "for t in reversed(range(len(x))):\n    row = x[t]",
           "for t, (row, other) in enumerate(zip(x, y)):\n    h = h + other * 0.1", "for t in range(1, len(x)):\n    row = x[t] + x[t - 1]",
           "for t in range(x.shape[0]):\n    row = y[t] * 0.5"}},
};

const Templates kSimple = {
    "{H} = {e}", "{H} = {e}", "{H} = torch.tanh({e})", "{H} = torch.tanh({e})", "out.append({e})", "{H} = {H} * 0.9 + 0.1 * {e}", "h, c = c, h", "{H} = torch.sigmoid({e}) * {H}",
    "late = {e}\nh = h + late * 0.1", "row = {e}", "with torch.no_grad():\n    scale = {e}\nh = h * 0.5 + scale * 0.1", "first, second = {e}.chunk(2, 1)\nh = torch.cat([second, first], 1)",
    "{H} = F.dropout({e}, 0.0, True)", "assert {e}.shape == (2, 4)", "{H} += {e}", "pair = ({e}, {e})\nh = pair[0] * 0.3 + pair[1]"};
const Templates kCompound = {"if t > 0:{:}", "if t % 2 == 0:{:}", "if {r} > 100:{:}", "for k in range(2):{:}", "if t == len(x) - 1:{:}"};
const std::map<char, std::vector<const char*>> kVariables = {{'H', {"h", "c", "h"}}};
// clang-format on

const Grammar& grammar() {
  static const Grammar all = {kExpressions, kSimple, kCompound, kVariables};
  return all;
}

constexpr const char* kPrelude = R"(import torch
import torch.nn.functional as F
def inputs(n, needs):
    torch.manual_seed(n)
    made = [torch.randn(n, 2, 4), torch.randn(4, 4) * 0.4, torch.randn(4, 4) * 0.4, torch.randn(4) * 0.1, torch.randn(2, 4)]
    return [tensor.requires_grad_(need) for tensor, need in zip(made, needs)]
def same(a, b, exactly):
    if a is None or b is None: return a is b
    if a.shape != b.shape: return False
    if not exactly: return torch.allclose(a, b, 1e-3, 1e-5, equal_nan=True)
    return torch.equal(torch.isnan(a), torch.isnan(b)) and torch.equal(a.nan_to_num(7.0), b.nan_to_num(7.0))
def gradients(f, n, needs, how):
    given = inputs(n, needs)
    wanted = [tensor for tensor in given if tensor.requires_grad]
    more = []
    if how == 'twice':
        first, second = f(*given), f(*given)
        (first + 2 * second).backward()
    elif how == 'again':
        loss = f(*given)
        loss.backward(retain_graph=True)
        loss.backward()
    elif how == 'before':
        (f(*given) + sum([tensor.sum() for tensor in given])).backward()
    elif how == 'some':
        loss = f(*given)
        more = list(torch.autograd.grad(loss, wanted[:1], retain_graph=True, allow_unused=True))
        loss.backward()
    elif how == 'others':
        loss = f(*given)
        more = list(torch.autograd.grad(loss, wanted[-1:], retain_graph=True, allow_unused=True))
        more += torch.autograd.grad(loss, wanted[:-1], allow_unused=True) if wanted[1:] else []
    elif how == 'create':
        firsts = torch.autograd.grad(f(*given), wanted, create_graph=True, allow_unused=True)
        more = [first for first in firsts if first is not None]
        total = sum([(first * first).sum() for first in more])
        if len(more) and total.requires_grad: total.backward()
    else:
        f(*given).backward()
    return more + [tensor.grad for tensor in given]
def outcome(f, n, needs, how):
    try:
        return gradients(f, n, needs, how)
    except Exception as error:
        return type(error).__name__ + ': ' + str(error).split('inplace operation')[0]  # what is named behind it differs
def compare(f, n, needs, how):
    expected, actual = outcome(plain, n, needs, how), outcome(f, n, needs, how)
    if isinstance(expected, str) or isinstance(actual, str): fits = expected == actual
    else: fits = len(expected) == len(actual) and all([same(a, b, how != 'create') for a, b in zip(expected, actual)])
    if not fits: print('differs', n, needs, how, expected, actual)
def step(x, w, u, b, h):
    loss = plain(x, w, u, b, h)
    wanted = [tensor for tensor in (x, w, u, b, h) if tensor.requires_grad]
    firsts = torch.autograd.grad(loss, wanted, allow_unused=True)
    return sum([(first * first).sum() for first in firsts if first is not None])
def trained(x, w, u, b, h):
    loss = plain(x, w, u, b, h)
    loss.backward()
    return loss.detach()
def inside(f, original, n, needs):
    results = []
    for one in (original, f):
        given = inputs(n, needs)
        try:
            results.append([one(*given)] + [tensor.grad for tensor in given])
        except Exception as error:
            results.append([type(error).__name__ + ': ' + str(error).split('inplace operation')[0]])
    if isinstance(results[0][0], str) or isinstance(results[1][0], str): fits = results[0][0] == results[1][0]
    else: fits = all([same(a, b, True) for a, b in zip(results[0], results[1])])
    if not fits: print('inside differs', original.__name__, n, needs, results)
)";

constexpr const char* kCalls =
    R"(f, compiled_step, compiled_training = torch.compile(plain), torch.compile(step), torch.compile(trained)
)";

}  // namespace

std::string generate_recurrent_program(uint64_t seed) {
  TemplateText text(grammar(), seed);
  Random& random = text.random;
  std::string body;
  const char* const kInFront[] = {
      "w = w * 1.5\n", "x = x * 2.0\n",  "y = x @ w\n",   "x = x.permute(1, 0, 2).contiguous().permute(1, 0, 2)\n",
      "h = h @ w\n",   "b = b + h[0]\n", "before = {e}\n"};
  body += "c, out, y, row, t = torch.zeros(2, 4), [], x * 0.5, h, 0\n";
  for (size_t i = random.below(3); i > 0; --i) body += text.expand(random.pick(kInFront), 1);
  body += text.expand("{R}\n", 0);
  for (size_t i = 1 + random.below(4); i > 0; --i) body += indented(text.statement(1));
  body += random.once_in(2) ? "    out.append(h)\n" : "    out.append(c + h)\n";
  std::string loss;
  for (size_t i = 1 + random.below(3); i > 0; --i) loss += (loss.empty() ? "" : " + ") + text.expand("{l}", 2);
  body += "return " + loss + "\n";
  std::string program = kPrelude + std::string("def plain(x, w, u, b, h):\n") + indented(body) + kCalls;
  constexpr const char* kHow[] = {"once", "twice", "again", "before", "some", "others", "create"};
  constexpr const char* kNumbers[] = {"40", "17", "16", "24", "5", "2", "1", "33"};
  for (int i = 0; i < 8; ++i) {
    std::string needs;
    for (int k = 0; k < 5; ++k) needs += random.once_in(2) ? "True, " : "False, ";
    const std::string number = random.pick(kNumbers);
    program += "compare(f, " + number + ", (" + needs + "), '" + random.pick(kHow) + "')\n";
    if (i % 2 == 0) program += "inside(compiled_step, step, " + number + ", (" + needs + "))\n";
    if (i % 4 == 1) program += "inside(compiled_training, trained, " + number + ", (" + needs + "))\n";
  }
  return program + "print('done')\n";
}

}  // namespace tsc::fuzz
