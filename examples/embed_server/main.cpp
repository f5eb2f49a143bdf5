// A small HTTP service. It loads a model once for each worker and answers requests, each with its own
// deadline:
//   GET /predict?x=0.1,0.2,0.3,0.4&deadline_ms=100   the model's three probabilities
//   GET /think?turns=1000000&deadline_ms=100         work that the deadline ends: status 504
//   GET /stats                                       memory and compiler counts of the workers
//   GET /quit                                        ends the service
// An engine serves one thread at a time, so each request takes a free worker from the pool.
#include <httplib.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <tenscript/tenscript.hpp>
#include <vector>

namespace {

constexpr size_t kWorkers = 2;
constexpr uint64_t kMemory = uint64_t{256} << 20;

class Pool {
 public:
  explicit Pool(const std::string& model) {
    for (size_t i = 0; i < kWorkers; ++i) {
      tenscript::Options options;
      options.threads = 1;
      options.memory_limit = kMemory;
      engines_.push_back(std::make_unique<tenscript::Engine>(options));
      engines_.back()->run_file(model);
      free_.push_back(engines_.back().get());
    }
  }

  // A worker for the time of one request.
  class Lease {
   public:
    explicit Lease(Pool& pool) : pool_(pool) {
      std::unique_lock<std::mutex> lock(pool_.mutex_);
      pool_.changed_.wait(lock, [&] { return !pool_.free_.empty(); });
      engine_ = pool_.free_.back();
      pool_.free_.pop_back();
    }
    ~Lease() {
      std::lock_guard<std::mutex> lock(pool_.mutex_);
      pool_.free_.push_back(engine_);
      pool_.changed_.notify_one();
    }
    tenscript::Engine& operator*() const { return *engine_; }

   private:
    Pool& pool_;
    tenscript::Engine* engine_;
  };

  std::string stats() const {
    std::ostringstream out;
    for (const auto& engine : engines_) {  // allowed while others work in them
      const tsc_statistics stats = engine->statistics();
      out << "memory " << stats.memory_bytes << " peak " << stats.peak_memory_bytes << " kernels " << stats.kernels
          << "\n";
    }
    return out.str();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<tenscript::Engine>> engines_;
  std::vector<tenscript::Engine*> free_;
};

std::string parameter(const httplib::Request& request, const char* name, const char* fallback) {
  return request.has_param(name) ? request.get_param_value(name) : fallback;
}

// Runs `body` in a free worker within the request's deadline; its errors become HTTP's.
template <class Body>
void answer(Pool& pool, const httplib::Request& request, httplib::Response& response, Body body) {
  const int deadline = std::atoi(parameter(request, "deadline_ms", "1000").c_str());
  try {
    const Pool::Lease worker(pool);
    tenscript::Limits limits;
    limits.memory = kMemory;
    limits.time = std::chrono::milliseconds(deadline > 0 ? deadline : 1);
    (*worker).set_limits(limits);
    response.set_content(body(*worker), "text/plain");
  } catch (const tenscript::Error& error) {
    response.status = error.code() == TSC_LIMIT ? 504 : 400;
    response.set_content(std::string(error.what()) + "\n", "text/plain");
  }
}

std::string predict(tenscript::Engine& engine, const std::string& numbers) {
  std::vector<float> x;
  std::istringstream stream(numbers);
  for (std::string number; std::getline(stream, number, ',');) x.push_back(std::strtof(number.c_str(), nullptr));
  const tenscript::Value input = engine.borrow({static_cast<int64_t>(x.size())}, x.data());
  const tenscript::Value output = engine.call("predict", input);
  const tsc_tensor_info info = output.tensor();
  const auto* probabilities = static_cast<const float*>(info.data);
  std::ostringstream out;
  for (int64_t i = 0; i < info.sizes[0]; ++i) out << (i ? " " : "") << probabilities[i];
  out << "\n";
  return out.str();
}

void add_routes(httplib::Server& server, Pool& pool) {
  using httplib::Request;
  using httplib::Response;
  server.Get("/predict", [&pool](const Request& request, Response& response) {
    answer(pool, request, response,
           [&](tenscript::Engine& engine) { return predict(engine, parameter(request, "x", "0,0,0,0")); });
  });
  server.Get("/think", [&pool](const Request& request, Response& response) {
    answer(pool, request, response, [&](tenscript::Engine& engine) {
      const int turns = std::atoi(parameter(request, "turns", "1").c_str());
      return std::to_string(engine.call("think", turns).as<double>()) + "\n";
    });
  });
  server.Get("/stats",
             [&pool](const Request&, Response& response) { response.set_content(pool.stats(), "text/plain"); });
  server.Get("/quit", [&server](const Request&, Response&) { server.stop(); });
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: embed_server model.tsc PORT (0: any free one)\n");
    return 2;
  }
  try {
    Pool pool(words[1]);
    httplib::Server server;
    add_routes(server, pool);
    int port = std::atoi(words[2]);
    if (port == 0) port = server.bind_to_any_port("127.0.0.1");
    else if (!server.bind_to_port("127.0.0.1", port)) port = -1;
    if (port < 0) {
      std::fprintf(stderr, "cannot listen on port %s\n", words[2]);
      return 1;
    }
    std::printf("listening on 127.0.0.1:%d\n", port);
    std::fflush(stdout);
    server.listen_after_bind();
  } catch (const tenscript::Error& error) {
    std::fprintf(stderr, "%s", error.render().c_str());
    return 1;
  }
  return 0;
}
