#pragma once
// Random numbers that a transformation of uniform ones does not give: gamma, Poisson and binomial
// draws, by rejection. Element i takes its uniform numbers from a stream of its own, Philox blocks
// (seed, offset, i and the number of the attempt), so it depends on nobody else's attempts and on
// no thread. And the derivatives of gamma and Dirichlet draws with respect to their parameters, for
// gradients through samples. Knows numbers alone: no tensors, no dtypes.
#include <cstdint>
#include <span>

namespace tsc {

struct RandomKey {
  uint64_t seed, offset;
};

// out[i]: of the gamma distribution with shape[i] and rate 1. nan where the shape is negative or
// nan.
void draw_standard_gamma(std::span<double> out, std::span<const double> shape, RandomKey key);
// out[i]: a count of the Poisson distribution of that rate. nan where it is negative or nan.
void draw_poisson(std::span<double> out, std::span<const double> rate, RandomKey key);
// out[i]: successes in count[i] trials (rounded down) of that probability. nan where these are no
// such numbers.
void draw_binomial(std::span<double> out, std::span<const double> count, std::span<const double> probability,
                   RandomKey key);

// dx/da of a draw x of the standard gamma distribution with shape a: -(dF/da) / p(x), with the
// distribution function F and the density p (Figurnov and others 2018, implicit
// reparameterisation).
double standard_gamma_derivative(double shape, double x);
// The same of one coordinate x of a Dirichlet draw, whose marginal is beta(a, total - a), over 1 -
// x.
double dirichlet_derivative(double x, double a, double total);

double digamma(double x);  // of a positive number

}  // namespace tsc
